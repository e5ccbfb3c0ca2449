import { asyncScheduler, concat, defer, ignoreElements, timer, type Observable } from 'rxjs';

export interface Pace {
  /** Works per second that may begin, on the average; 0: as many as come. */
  readonly perSecond: number;
  /** Works that may begin at once after a quiet time; at least one. */
  readonly burst: number;
}

/**
 * Lets works begin no faster than the pace allows; one that comes too soon begins later.
 *
 * ```text
 * perSecond 1, burst 2
 * a       (a|)
 * b       (b|)
 * c       1s (c|)
 * ```
 *
 * What is returned keeps the count: all works that go through it share the pace. A clock that is set back holds nobody up.
 */
export function pace({ perSecond, burst }: Pace): <T>(work$: Observable<T>) => Observable<T> {
  if (perSecond <= 0) return (work$) => work$;
  const between = 1_000 / perSecond;
  const credit = (Math.max(1, burst) - 1) * between;
  let full = -Infinity; // when all that was taken is paid back
  let last = -Infinity;
  return (work$) =>
    defer(() => {
      const now = asyncScheduler.now();
      full -= Math.max(0, last - now); // by as much as the clock was set back since
      last = now;
      const at = Math.max(now, full - credit);
      full = Math.max(full, at) + between;
      return at === now ? work$ : concat(timer(at - now).pipe(ignoreElements()), work$);
    });
}
