import { asyncScheduler, Observable } from 'rxjs';

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
  const queues: Readonly<Record<Precedence, (() => void)[]>> = { first: [], inOrder: [] };

  function next(): void {
    const enter = queues.first.shift() ?? queues.inOrder.shift();
    if (enter) enter();
    else free += 1;
  }

  return (work$, precedence = 'inOrder') =>
    new Observable((result) => {
      const queue = queues[precedence];
      let place: 'wanted' | 'held' | 'given' = 'wanted';

      function giveOn(): void {
        if (place !== 'held') return;
        place = 'given';
        next();
      }

      function enter(): void {
        place = 'held';
        if (atMost !== undefined) result.add(asyncScheduler.schedule(giveOn, atMost));
        work$.subscribe(result);
      }

      if (free > 0) {
        free -= 1;
        enter();
      } else {
        queue.push(enter);
      }
      return () => {
        if (place === 'wanted') queue.splice(queue.indexOf(enter), 1);
        else giveOn();
      };
    });
}
