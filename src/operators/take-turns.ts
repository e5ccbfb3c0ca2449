import { defer, finalize, ReplaySubject, switchMap, take, type Observable } from 'rxjs';

/**
 * Lets at most `places` of the works that pass through it go on at the same time; the others wait in the order in
 * which they came.
 *
 * ```text
 * places 1
 * a         --a--|
 * b         ^    --b--|          begins when a has ended
 * result a  --a--|
 * result b  -------b--|
 * ```
 *
 * Unsubscribing gives the place, or the place in the queue, to the next. What is returned holds the places: all works
 * that go through it share them.
 */
export function takeTurns(places: number): <T>(work$: Observable<T>) => Observable<T> {
  let free = places;
  const queue: ReplaySubject<void>[] = [];

  function next(): void {
    const waiting = queue.shift();
    if (waiting) waiting.next();
    else free += 1;
  }

  return (work$) =>
    defer(() => {
      const turn = new ReplaySubject<void>(1);
      let hasPlace = free > 0;
      if (hasPlace) {
        free -= 1;
        turn.next();
      } else {
        queue.push(turn);
      }
      return turn.pipe(
        take(1),
        switchMap(() => {
          hasPlace = true;
          return work$;
        }),
        finalize(() => {
          if (hasPlace) next();
          else queue.splice(queue.indexOf(turn), 1);
        }),
      );
    });
}
