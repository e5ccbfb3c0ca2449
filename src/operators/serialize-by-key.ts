import {
  defer,
  groupBy,
  mergeMap,
  Subject,
  type GroupedObservable,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import { conflateMap, type ConflateMapConfig } from './conflate-map.ts';

export interface SerializeByKeyConfig<T, K, R> extends Omit<ConflateMapConfig<T, R>, 'onIdle'> {
  /** Names the lane an item belongs to. */
  readonly key: (item: T) => K;
}

/**
 * Gives every key its own {@link conflateMap} lane; lanes run side by side.
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
  const { key, ...lane } = config;

  return (source$: Observable<T>) =>
    defer(() => {
      const ends = new Map<K, Subject<undefined>>();

      function open({ key: name }: GroupedObservable<K, T>): Observable<undefined> {
        const end = new Subject<undefined>();
        ends.set(name, end);
        return end;
      }

      function close(name: K): void {
        const end = ends.get(name);
        ends.delete(name);
        end?.next(undefined);
      }

      return source$.pipe(
        groupBy(key, { duration: open }),
        mergeMap((lane$) =>
          lane$.pipe(
            conflateMap({
              ...lane,
              onIdle: () => {
                close(lane$.key);
              },
            }),
          ),
        ),
      );
    });
}
