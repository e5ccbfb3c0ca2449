import { Observable, type ObservableInput, type OperatorFunction } from 'rxjs';
import { lane } from './lane.ts';

/** How one lane of work folds, interrupts and survives. */
export interface ConflateMapConfig<T, R> {
  /**
   * Starts the work for one item. Unsubscribing must cancel it.
   * `waiting` tells, at any moment of the work, the item that will run next, if there is one.
   */
  readonly work: (item: T, waiting: () => T | undefined) => ObservableInput<R>;
  /** Turns a failure into an outcome; a lane never errors because its work did. */
  readonly recover: (error: unknown, item: T) => R;
  /** Folds an arrival into the item still waiting. Defaults to latest-wins. */
  readonly fold?: (waiting: T, arrival: T) => T;
  /** Whether an arrival cuts short the work in flight, to run in its place at once. Defaults to never. */
  readonly preempts?: (arrival: T, running: T) => boolean;
  /** Called when the work in flight has ended and nothing is waiting. */
  readonly onIdle?: () => void;
}

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
export function conflateMap<T, R>(config: ConflateMapConfig<T, R>): OperatorFunction<T, R> {
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
