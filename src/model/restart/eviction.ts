import type { BackoffLimits } from './backoff.ts';

/** That a pod was ended for what it took of the node, and when it begins anew. Milliseconds, and since 1970. */
export interface Eviction {
  /** Why, in the kubelet's words. */
  readonly message: string;
  readonly delay: number;
  readonly until: number;
}

/**
 * How long a pod waits that is evicted now: as crash-looping containers do, the wait doubles from `initial` to `ceiling`,
 * and a pod that ran well for twice the ceiling is forgiven. The first time waits too: what filled the disk once will
 * fill it again.
 */
export function nextEviction(
  before: Eviction | undefined,
  message: string,
  now: number,
  { initial, ceiling }: BackoffLimits,
): Eviction {
  const isForgiven = before === undefined || now - before.until > 2 * ceiling;
  const delay = Math.min(isForgiven ? initial : before.delay * 2, ceiling);
  return { message, delay, until: now + delay };
}

/** Milliseconds that are left of the wait; a clock that was set back stretches it no further than its whole. */
export function leftOf({ delay, until }: Eviction, now: number): number {
  return Math.min(Math.max(0, until - now), delay);
}
