import {
  connect,
  defer,
  endWith,
  finalize,
  ignoreElements,
  merge,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
  type MonoTypeOperatorFunction,
  type Observable,
} from 'rxjs';

/** Who goes first where several wait: `first` before all of the others. */
export type Precedence = 'first' | 'inOrder';

export interface TurnOptions {
  /** Milliseconds after which a work gives its place to the next, though it goes on; absent: when it ends. */
  readonly atMost?: number;
}

export type TakeTurns = <T>(work$: Observable<T>, precedence?: Precedence) => Observable<T>;

/**
 * Lets at most `places` of the works that pass through it go on at the same time; the others wait in the order in
 * which they came, those that go `first` before the others.
 *
 * ```text
 * places 1
 * a         --a--|
 * b         ^    --b--|          begins when a has ended
 * result a  --a--|
 * result b  -------b--|
 *
 * places 1, atMost 4
 * a         -------a|
 * b         ^   -b|              begins when a has had its time
 * result a  -------a|
 * result b  -----b|
 * ```
 *
 * Unsubscribing gives the place, or the place in the queue, to the next. What is returned holds the places: all works
 * that go through it share them.
 */
export function takeTurns(places: number, { atMost }: TurnOptions = {}): TakeTurns {
  let free = places;
  const queues: Readonly<Record<Precedence, ReplaySubject<void>[]>> = { first: [], inOrder: [] };

  function next(): void {
    const waiting = queues.first.shift() ?? queues.inOrder.shift();
    if (waiting) waiting.next();
    else free += 1;
  }

  return (work$, precedence = 'inOrder') =>
    defer(() => {
      const queue = queues[precedence];
      const turn = new ReplaySubject<void>(1);
      let place: 'wanted' | 'held' | 'given' = 'wanted';
      if (free > 0) {
        free -= 1;
        place = 'held';
        turn.next();
      } else {
        queue.push(turn);
      }

      function giveOn(): void {
        if (place !== 'held') return;
        place = 'given';
        next();
      }

      return turn.pipe(
        take(1),
        switchMap(() => {
          place = 'held';
          return atMost === undefined ? work$ : work$.pipe(beside(timer(atMost).pipe(tap(giveOn))));
        }),
        finalize(() => {
          if (place === 'wanted') queue.splice(queue.indexOf(turn), 1);
          else giveOn();
        }),
      );
    });
}

/** Lets something else go on until the source ends; nothing of it is passed on. */
function beside<T>(other$: Observable<unknown>): MonoTypeOperatorFunction<T> {
  return connect((source$) =>
    merge(other$.pipe(ignoreElements(), takeUntil(source$.pipe(ignoreElements(), endWith(undefined)))), source$),
  );
}
