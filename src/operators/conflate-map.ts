import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  of,
  Subject,
  takeUntil,
  type Observable,
  type ObservableInput,
  type OperatorFunction,
} from 'rxjs';

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
  const { work, recover, fold = latestWins, preempts = never, onIdle } = config;

  return (source$: Observable<T>) =>
    defer(() => {
      const arrivals = new Subject<T>();
      let slot: { readonly item: T } | undefined;

      // A value landing in an empty slot is a wake-up; one landing in a full slot only folds.
      // So concatMap never buffers more than one wake-up, and the slot is emptied when work starts, not when it ends.
      function wakes(arrival: T): boolean {
        const wasEmpty = slot === undefined;
        slot = { item: slot ? fold(slot.item, arrival) : arrival };
        arrivals.next(arrival);
        return wasEmpty;
      }

      function waiting(): T | undefined {
        return slot?.item;
      }

      function runWaiting(): Observable<R> {
        if (!slot) return EMPTY;
        const { item } = slot;
        slot = undefined;
        return defer(() => work(item, waiting)).pipe(
          catchError((error: unknown) => of(recover(error, item))),
          takeUntil(arrivals.pipe(filter((arrival) => preempts(arrival, item)))),
        );
      }

      const rest$ = defer(() => {
        if (!slot) onIdle?.();
        return EMPTY;
      });

      return source$.pipe(
        filter(wakes),
        concatMap(() => concat(defer(runWaiting), rest$)),
      );
    });
}

function latestWins<T>(_waiting: T, arrival: T): T {
  return arrival;
}

function never(): boolean {
  return false;
}
