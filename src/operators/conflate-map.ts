import { Observable, type OperatorFunction } from 'rxjs';
import { lane, type LaneConfig } from './lane.ts';

/**
 * Runs work for one item at a time, folding arrivals into a single waiting slot.
 *
 * ```text
 * source    a--bc-----------e--|
 * work(x)   -----(x|)
 * result    -----a----c----------(e|)     b was folded into c
 * ```
 *
 * * No arrival is lost: each one runs, is folded into one that runs, or cuts in.
 * * Work never overlaps, not even when it is synchronous and feeds its own source.
 * * Work that is cut short is unsubscribed and has no outcome; what waits starts in the same instant.
 * * Completes when the source has and nothing runs or waits; an error of the source passes at once.
 * * `fold`, `preempts` and `recover` must not throw: the result errors when they do.
 */
export function conflateMap<T, R>(config: LaneConfig<T, R>): OperatorFunction<T, R> {
  return (source$) =>
    new Observable((result) => {
      let isOver = false;
      const only = lane(
        {
          ...config,
          onIdle: () => {
            config.onIdle?.();
            if (isOver && only.isIdle()) result.complete();
          },
        },
        result,
      );
      result.add(only.close);
      return source$.subscribe({
        next: only.put,
        error: (error: unknown) => {
          result.error(error);
        },
        complete: () => {
          isOver = true;
          if (only.isIdle()) result.complete();
        },
      });
    });
}
