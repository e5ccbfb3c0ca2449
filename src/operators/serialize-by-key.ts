import { Observable, type OperatorFunction } from 'rxjs';
import { lane, type Lane, type LaneConfig } from './lane.ts';

export interface SerializeByKeyConfig<T, K, R> extends Omit<LaneConfig<T, R>, 'onIdle'> {
  /** Names the lane an item belongs to. */
  readonly key: (item: T) => K;
}

/**
 * Gives every key its own `conflateMap` lane; lanes run side by side.
 *
 * ```text
 * source    abcx-----------|     a, b, c: one key; x: another
 * work(x)   -----(x|)
 * result    -----a--x-c----|     b was folded into c
 * lane a    ^---------!          a lane lives only while its key is busy
 * lane x       ^----!
 * ```
 *
 * * A lane closes the moment it falls idle: memory is bounded by the number of busy keys,
 *   and a closed lane can never overlap its successor.
 * * Completes when the source has and every lane is idle; an error of the source passes at once.
 */
export function serializeByKey<T, K, R>(config: SerializeByKeyConfig<T, K, R>): OperatorFunction<T, R> {
  const { key } = config;

  return (source$) =>
    new Observable((result) => {
      const lanes = new Map<K, Lane<T>>();
      let isOver = false;

      function open(name: K): Lane<T> {
        const opened = lane(
          {
            ...config,
            onIdle: () => {
              lanes.delete(name);
              if (isOver && lanes.size === 0) result.complete();
            },
          },
          result,
        );
        lanes.set(name, opened);
        return opened;
      }

      function put(item: T): void {
        let name: K;
        try {
          name = key(item);
        } catch (error) {
          result.error(error);
          return;
        }
        (lanes.get(name) ?? open(name)).put(item);
      }

      result.add(() => {
        for (const one of lanes.values()) one.close();
      });
      return source$.subscribe({
        next: put,
        error: (error: unknown) => {
          result.error(error);
        },
        complete: () => {
          isOver = true;
          if (lanes.size === 0) result.complete();
        },
      });
    });
}
