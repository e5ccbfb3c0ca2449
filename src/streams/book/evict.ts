import { isStatic } from '../../model/admission/rank.ts';
import type { PodUid } from '../../model/pod.ts';
import { nextEviction } from '../../model/restart/eviction.ts';
import { maxContainerRestartPeriodOf } from '../../model/rxlet-annotations.ts';
import { evictedFor, isEvicted } from '../../model/status/evicted-status.ts';
import { put, type Draft } from './draft.ts';
import { toSyncing, toTerminating } from './edges.ts';
import type { Waiting } from './pod-book.ts';

/** Seconds that an evicted pod gets to end (kubelet: 1). */
const GRACE = 1;

/**
 * Ends a pod that takes more of the node than it may. Nobody else would replace a static pod, so it begins anew when it
 * is gone with all that it wrote, after a while. `now` is milliseconds since 1970.
 */
export function evict(draft: Draft, uid: PodUid, message: string, now: number): void {
  const entry = draft.entries.get(uid);
  if (entry?.phase !== 'syncing' || !entry.pod || !draft.facts.eviction) return;
  const { backoff } = draft.facts.eviction;
  const ceiling = maxContainerRestartPeriodOf(entry.pod.metadata.annotations) ?? backoff.ceiling;
  const eviction = nextEviction(entry.eviction, message, now, { ...backoff, ceiling });
  const verdict = evictedFor(message);
  draft.notes.push({ uid, note: { level: 'Warning', reason: verdict.reason, message } });
  const again = !entry.successor && isStatic(entry.pod) ? { again: entry.pod } : {};
  put(draft, toTerminating({ ...entry, eviction }, { grace: GRACE, why: message, verdict, ...again }));
}

/** Takes up what an earlier run of the agent had begun: whether nothing of the pod is left is not known yet. */
export function resumeEviction(draft: Draft, entry: Waiting): boolean {
  const { eviction, status, pod } = entry;
  if (!eviction || !status || !isEvicted(status)) return false;
  const { message } = eviction;
  const ending = { grace: GRACE, why: message, verdict: evictedFor(message), again: pod };
  put(draft, toTerminating(toSyncing(entry, message), ending));
  return true;
}
