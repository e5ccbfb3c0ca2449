import type { Refusal } from '../../model/admission/admission-node.ts';
import { isStatic } from '../../model/admission/rank.ts';
import { deepEqual } from '../../model/deep-equal.ts';
import { assertNever } from '../../model/errors.ts';
import type { FullName, PodUid } from '../../model/pod.ts';
import { PREEMPTED } from '../../model/status/refused-status.ts';
import { begin, holderOf, note, put, successorOf, type Draft } from './draft.ts';
import { toPreparing, toRefused, toReturned, toSyncing, toTerminating, toWaiting } from './edges.ts';
import { resumeEviction } from './evict.ts';
import { hasRoomChanged, judgePod } from './judge-pod.ts';
import { holdsName, isPending } from './places.ts';
import type { PodBook, Refused, Waiting } from './pod-book.ts';

/**
 * Starts every pod whose name is free and that the node takes: first what runs already, then what waits, then what was
 * refused before, each in the order in which they began to wait.
 */
export function admit(draft: Draft, before: PodBook): void {
  if (!draft.runtimeSeen || draft.draining || draft.places.pending().size === 0) return;
  if (!isNews(draft, before)) return;
  draft.isMoving = admitPending(draft, before);
}

/** Whether those that are pending may be judged otherwise than the last time: only then is it worth a look at all pods. */
function isNews(draft: Draft, before: PodBook): boolean {
  if (before.isMoving !== false || draft.runtimeSeen !== before.runtimeSeen || draft.draining !== before.draining)
    return true;
  if (draft.up !== before.up || draft.facts !== before.facts) return true;
  for (const uid of draft.entries.touched) {
    const [then, now] = [before.entries.get(uid), draft.entries.get(uid)];
    if (then === now) continue;
    if (isPending(then) || isPending(now) || then?.phase !== now?.phase || then?.pod !== now?.pod) return true;
    if (successorOf(then) !== successorOf(now)) return true;
  }
  return false;
}

/** Whether anything has come of it. */
function admitPending(draft: Draft, before: PodBook): boolean {
  const waiting: Waiting[] = [];
  const refused: Refused[] = [];
  for (const uid of draft.places.pending().keys()) {
    const entry = draft.entries.get(uid);
    if (entry?.phase === 'waiting' && entry.isOut !== true) waiting.push(entry);
    else if (entry?.phase === 'refused' && isStatic(entry.pod)) refused.push(entry);
  }
  if (waiting.length === 0 && refused.length === 0) return false;
  const [running, comers] = [waiting.filter(isUp), waiting.filter((entry) => !isUp(entry))];
  for (const entry of [...running, ...comers]) {
    if (isNameHeld(draft, entry.name)) continue;
    if (!resumeEviction(draft, entry)) admitOne(draft, entry, isUp(entry));
  }
  const isChanged = refused.length > 0 && hasRoomChanged(before.entries, draft.entries);
  for (const entry of refused) {
    if (!isChanged && before.entries.get(entry.uid)?.pod === entry.pod) continue;
    // A refused successor gets another chance while its predecessor runs on.
    if (!isNameHeld(draft, entry.name)) admitOne(draft, entry, false);
    else if (holderOf(draft, entry)) prepareOrWait(draft, entry);
  }
  return [...waiting, ...refused].some((entry) => draft.entries.get(entry.uid) !== entry);

  function isUp({ uid }: Waiting): boolean {
    return draft.up.has(uid);
  }
}

function isNameHeld({ entries, places }: Draft, name: FullName): boolean {
  return (places.names().get(name) ?? []).some((uid) => {
    const entry = entries.get(uid);
    return entry !== undefined && holdsName(entry);
  });
}

/** The wait of an evicted pod is over. Another one that came meanwhile may run on until this one can take its place. */
export function takeBack(draft: Draft, uid: PodUid): void {
  const entry = draft.entries.get(uid);
  if (entry?.phase === 'waiting' && entry.isOut === true) prepareOrWait(draft, toReturned(entry));
}

/** What takes the place of a running pod is judged as if that one were gone, and before it goes. */
export function prepareOrWait(draft: Draft, entry: Waiting | Refused): void {
  const holder = holderOf(draft, entry);
  if (!holder) {
    note(draft, toWaiting(entry));
    return;
  }
  const admission = judgePod(draft, entry, holder.uid);
  if (admission.kind === 'refused') refuse(draft, entry, admission.refusal);
  else put(draft, toPreparing(entry, 'it takes the place of a running pod'));
}

/** Judges one pod and follows the judgement. */
function admitOne(draft: Draft, entry: Waiting | Refused, isRunning: boolean): void {
  const admission = isRunning ? ({ kind: 'admitted' } as const) : judgePod(draft, entry);
  switch (admission.kind) {
    case 'admitted':
      begin(draft, toSyncing(entry, 'it is wanted'));
      return;
    case 'refused':
      refuse(draft, entry, admission.refusal);
      return;
    case 'waits':
      if (entry.phase === 'waiting' && deepEqual(entry.refusal, admission.refusal)) return;
      note(draft, toWaiting(entry, admission.refusal));
      return;
    case 'preempts':
      for (const { metadata } of admission.victims) preempt(draft, metadata.uid);
      note(draft, toWaiting(entry));
      return;
    default:
      assertNever(admission);
  }
}

function refuse(draft: Draft, entry: Waiting | Refused, refusal: Refusal): void {
  const { reason, message } = refusal;
  if (entry.phase === 'refused' && deepEqual(entry.refusal, refusal)) return;
  note(draft, toRefused(entry, refusal));
  draft.notes.push({ uid: entry.uid, note: { level: 'Warning', reason, message } });
}

/** Ends a pod so that a more important one fits; it comes back as soon as there is room again. */
function preempt(draft: Draft, uid: PodUid): void {
  const entry = draft.entries.get(uid);
  if (entry?.phase !== 'syncing') return;
  const { reason, message } = PREEMPTED;
  draft.notes.push({ uid, note: { level: 'Warning', reason, message } });
  const again = entry.pod && !entry.successor && isStatic(entry.pod) ? { again: entry.pod } : {};
  put(draft, toTerminating(entry, { why: message, verdict: PREEMPTED, ...again }));
}
