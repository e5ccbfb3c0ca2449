import { deepEqual } from '../deep-equal.ts';
import type { PodStatus } from '../pod.ts';
import type { Eviction } from '../restart/eviction.ts';
import { rfc3339 } from '../rfc3339.ts';
import type { Verdict } from './status-facts.ts';

const REASON = 'Evicted';

/** What becomes of a pod that took more of the node than it may (facts sheet 22). */
export function evictedFor(message: string): Verdict {
  return { phase: 'Failed', reason: REASON, message, disruption: message };
}

export function isEvicted({ phase, reason }: Pick<PodStatus, 'phase' | 'reason'>): boolean {
  return phase === 'Failed' && reason === REASON;
}

/**
 * The status of an evicted pod of which nothing is left, with the time at which it begins anew. Equal facts give the very
 * same object.
 */
export function awaitingStatus(previous: PodStatus, { message, until }: Eviction): PodStatus {
  const status: PodStatus = { ...previous, message: `${message}The pod begins anew at ${rfc3339(until)}. ` };
  return deepEqual(previous, status) ? previous : status;
}
