import { from, Observable, type ObservableInput, type Subscriber } from 'rxjs';

/** How one lane of work folds, interrupts and survives. */
export interface LaneConfig<T, R> {
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

/** One row of items, as that of `conflateMap`, for those who hold more than one. */
export interface Lane<T> {
  /** Runs the item, folds it into the one that waits, or lets it cut in. */
  readonly put: (arrival: T) => void;
  /** Nothing runs, and nothing waits. */
  readonly isIdle: () => boolean;
  /** Cancels what runs. */
  readonly close: () => void;
}

interface Running<T> {
  readonly item: T;
  cut: () => void;
}

/**
 * A lane that tells its results to `result`, and calls `onIdle` when nothing runs and nothing waits any more.
 *
 * Written without operators: every look at the runtime and every work on a pod goes through a lane, and as a composition
 * each of them cost a dozen subscriptions beside its own.
 */
export function lane<T, R>(config: LaneConfig<T, R>, result: Subscriber<R>): Lane<T> {
  const { work, recover, fold = latestWins, preempts = never, onIdle } = config;
  let slot: { readonly item: T } | undefined;
  let running: Running<T> | undefined;
  let isTurning = false;

  function waiting(): T | undefined {
    return slot?.item;
  }

  function isBusy(): boolean {
    return running !== undefined;
  }

  function put(arrival: T): void {
    try {
      slot = { item: slot ? fold(slot.item, arrival) : arrival };
      if (running && preempts(arrival, running.item)) running.cut();
    } catch (error) {
      result.error(error);
      return;
    }
    turn();
  }

  /** A loop, so that works which end at once do not nest; who comes while it goes round is found by it. */
  function turn(): void {
    if (isTurning || isBusy()) return;
    isTurning = true;
    while (slot && !isBusy() && !result.closed) {
      const { item } = slot;
      slot = undefined;
      run(item);
    }
    isTurning = false;
    if (!isBusy() && !result.closed) onIdle?.();
  }

  function run(item: T): void {
    let failure: { readonly error: unknown } | undefined;
    const mine: Running<T> = { item, cut: () => undefined };
    running = mine;
    const work$ = new Observable<R>((subscriber) => {
      // Known before the work begins: what it causes at once may cut it short.
      mine.cut = () => {
        subscriber.unsubscribe();
      };
      from(work(item, waiting)).subscribe(subscriber);
    });
    work$
      .subscribe({
        next: (value) => {
          result.next(value);
        },
        error: (error: unknown) => {
          failure = { error };
        },
      })
      // When all of it is over, its own teardown included.
      .add(() => {
        if (failure && !result.closed) tellFailure(failure.error, item);
        running = undefined;
        turn();
      });
  }

  function tellFailure(error: unknown, item: T): void {
    try {
      result.next(recover(error, item));
    } catch (defect) {
      result.error(defect);
    }
  }

  return {
    put,
    isIdle: () => !isBusy() && !slot,
    close: () => {
      running?.cut();
    },
  };
}

function latestWins<T>(_waiting: T, arrival: T): T {
  return arrival;
}

function never(): boolean {
  return false;
}
