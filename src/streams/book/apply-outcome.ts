import { isShallowEqual } from '../../model/deep-equal.ts';
import { assertNever } from '../../model/errors.ts';
import { newerLook } from '../../model/newer-look.ts';
import type { Pod } from '../../model/pod.ts';
import { isEvicted } from '../../model/status/evicted-status.ts';
import type { PodOutcome, WaitingReasons } from '../workers/pod-work.ts';
import { dispatch, forget, fresh, holderOf, note, put, without, WORK_OF, type Draft } from './draft.ts';
import { toAwaited, toEnded, toFailed, toFinished, toSynced, toWaiting } from './edges.ts';
import type { Ended, Syncing } from './pod-book.ts';
import { end, want } from './want.ts';

/** What the end of a work means for its pod; nothing where the pod has moved on to another phase since. */
export function applyOutcome(draft: Draft, outcome: PodOutcome): void {
  const { uid, work } = outcome;
  const entry = draft.entries.get(uid);
  if (!entry) return;
  if (work.kind !== WORK_OF[entry.phase]) {
    // A pod that came back during its clean-up: a second round of that, waiting its turn, has swallowed its first work.
    if (outcome.kind === 'cleanedUp') dispatch(draft, entry);
    return;
  }
  switch (outcome.kind) {
    case 'synced':
      if (entry.phase === 'syncing') applySynced(draft, entry, outcome);
      return;
    case 'prepared': {
      if (entry.phase !== 'preparing') return;
      note(draft, toWaiting(entry));
      const holder = holderOf(draft, entry);
      if (holder) end(draft, holder.uid, undefined, 'its successor is ready to take its place');
      return;
    }
    case 'ended':
      if (entry.phase !== 'terminating') return;
      if (draft.up.has(uid)) draft.up = without(draft.up, uid);
      put(
        draft,
        toEnded(
          { ...entry, observed: newerLook(outcome.observed, entry.observed), waiting: new Map() },
          'nothing of it runs any more',
        ),
      );
      return;
    case 'cleanedUp':
      if (entry.phase !== 'ended') return;
      if (entry.again) comeBack(draft, entry, entry.again);
      else forget(draft, uid);
      return;
    case 'failed':
      if (entry.phase === 'waiting' || entry.phase === 'refused' || entry.phase === 'finished') return;
      note(draft, toFailed(entry, outcome));
      return;
    default:
      assertNever(outcome);
  }
}

function applySynced(draft: Draft, entry: Syncing, outcome: Extract<PodOutcome, { kind: 'synced' }>): void {
  const { finished, verdict } = outcome;
  // What was sighted while a slow look went on is newer, and nobody would tell it again.
  const observed = newerLook(outcome.observed, entry.observed);
  const waiting = isSameWaiting(entry.waiting, outcome.waiting) ? entry.waiting : outcome.waiting;
  const synced = toSynced(entry, { observed, waiting, ...(verdict ? { verdict } : {}) });
  if (finished && synced.pod) note(draft, toFinished(synced));
  else if (!isShallowEqual(entry, synced)) note(draft, synced);
  // The work that waited meanwhile comes to the same verdict once more.
  if (verdict && entry.status?.reason !== verdict.reason) {
    const { reason, message } = verdict;
    draft.notes.push({ uid: entry.uid, note: { level: 'Normal', reason, message } });
  }
  if (finished && entry.successor !== undefined) {
    end(draft, entry.uid, undefined, 'its successor takes its place');
  }
}

function isSameWaiting(before: WaitingReasons, now: WaitingReasons): boolean {
  if (before.size !== now.size) return false;
  for (const [name, { reason, message }] of now) {
    const former = before.get(name);
    if (former?.reason !== reason || former.message !== message) return false;
  }
  return true;
}

/** Nothing is left of a pod that is to come back: at once, or after a while where it was evicted. */
function comeBack(draft: Draft, entry: Ended, pod: Pod): void {
  const { uid, verdict, eviction } = entry;
  forget(draft, uid);
  if (eviction && verdict && isEvicted(verdict)) note(draft, toAwaited(fresh(pod, draft), entry, eviction));
  else want(draft, pod);
}
