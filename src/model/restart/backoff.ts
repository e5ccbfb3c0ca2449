/** How long a crash-looping container waits, and since when that has been known. Milliseconds. */
export interface Backoff {
  readonly delay: number;
  readonly since: number;
}

export interface BackoffLimits {
  /** Milliseconds of the first wait (kubelet: 10 s). */
  readonly initial: number;
  /** Milliseconds that no wait exceeds (kubelet: crashLoopBackOff.maxContainerRestartPeriod, 300 s). */
  readonly ceiling: number;
}

export type BackoffDecision =
  | { readonly start: true; readonly backoff: Backoff }
  | { readonly start: false; readonly delay: number; readonly until: number };

/**
 * Decides whether a container that ended may start again now.
 *
 * The first death restarts at once; then the wait doubles from `initial` to `ceiling`, counted from the moment
 * at which the container ended. A container that ran well for twice the ceiling is forgiven
 * (kubelet, client-go flowcontrol.Backoff). A clock that is set back stretches no wait beyond twice its delay.
 */
export function decideBackoff(
  backoff: Backoff | undefined,
  finishedAt: number,
  now: number,
  { initial, ceiling }: BackoffLimits,
): BackoffDecision {
  const first = Math.min(initial, ceiling);
  if (backoff === undefined || finishedAt - backoff.since > 2 * ceiling) {
    return { start: true, backoff: { delay: first, since: now } };
  }
  // What was remembered may have been reckoned under a higher ceiling.
  const delay = Math.min(backoff.delay, ceiling);
  const until = finishedAt + delay;
  // An end that lies this far ahead was told by a clock that has been set back since: nobody knows how long ago it was.
  const isClockSetBack = finishedAt - now > delay;
  if (now < until && !isClockSetBack) return { start: false, delay, until };
  return { start: true, backoff: { delay: Math.min(delay * 2, ceiling), since: now } };
}

/** `5m0s`, `1m20s`, `10s`: durations as the kubelet's messages print them. Milliseconds in. */
export function formatGoDuration(milliseconds: number): string {
  const total = Math.round(milliseconds / 1_000);
  const hours = Math.floor(total / 3_600);
  const minutes = Math.floor((total % 3_600) / 60);
  const seconds = total % 60;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
