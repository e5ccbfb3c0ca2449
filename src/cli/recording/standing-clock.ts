/** Milliseconds. */
export interface StandingClock {
  /** Since 1970. */
  readonly now: () => number;
  /** Since some moment, without jumps. */
  readonly monotonic: () => number;
}

/**
 * A clock that stands still from the first look at it until what was heard has been acted upon: what is decided upon one
 * thing is decided at one time, and written down with that time, so that it can be decided again.
 */
export function standingClock(): StandingClock {
  let stands: { readonly now: number; readonly monotonic: number } | undefined;
  function stand(): { readonly now: number; readonly monotonic: number } {
    if (!stands) {
      stands = { now: Date.now(), monotonic: performance.now() };
      queueMicrotask(() => {
        stands = undefined;
      });
    }
    return stands;
  }
  return { now: () => stand().now, monotonic: () => stand().monotonic };
}
