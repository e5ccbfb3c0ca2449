import type { PodChange } from '../../model/desired.ts';
import { assertNever } from '../../model/errors.ts';
import { fullNameOf, type Pod, type PodUid } from '../../model/pod.ts';
import { updateModeOf, type UpdateMode } from '../../model/rxlet-annotations.ts';
import { prepareOrWait } from './admit.ts';
import { forget, fresh, holderOf, note, put, type Draft } from './draft.ts';
import { toEnded, toGone, toKept, toReplaced, toTerminating } from './edges.ts';
import type { Entry } from './pod-book.ts';

/** What one set of a source changed. One pod that goes while another of its name comes is not removed but replaced. */
export function applyChanges(draft: Draft, changes: readonly PodChange[]): void {
  const comers = new Map(changes.filter(({ op }) => op === 'add').map(({ pod }) => [fullNameOf(pod), pod]));
  for (const change of changes) {
    const comer = comers.get(fullNameOf(change.pod));
    if (change.op === 'remove' && comer && comer.metadata.uid !== change.pod.metadata.uid) {
      replace(draft, change.pod.metadata.uid, comer);
    } else {
      applyChange(draft, change);
    }
  }
}

/** A source wants the pod, as it is given. */
export function want(draft: Draft, pod: Pod): void {
  const entry = draft.entries.get(pod.metadata.uid);
  switch (entry?.phase) {
    case undefined:
      prepareOrWait(draft, fresh(pod, draft));
      return;
    case 'preparing':
    case 'waiting':
    case 'refused':
    case 'finished':
      accept(draft, pod);
      return;
    case 'syncing':
      put(draft, toKept(entry, pod, 'the manifest changed'));
      return;
    case 'terminating':
    case 'ended':
      note(draft, { ...entry, again: pod });
      return;
  }
}

/** Begins the end of a pod. Nothing to do where it has not begun, or is ending already with no longer grace. */
export function end(draft: Draft, uid: PodUid, seconds: number | undefined, why: string): void {
  const entry = draft.entries.get(uid);
  switch (entry?.phase) {
    case undefined:
    case 'ended':
      return;
    case 'preparing':
    case 'waiting':
    case 'refused':
      forget(draft, uid);
      return;
    case 'finished':
      put(draft, toEnded(entry, why));
      return;
    case 'syncing':
      put(draft, toTerminating(entry, { grace: seconds, why }));
      return;
    case 'terminating':
      if (seconds !== undefined && seconds < entry.grace) put(draft, toTerminating(entry, { grace: seconds, why }));
      return;
  }
}

export function modeOf({ metadata }: Pod, { facts }: Draft): UpdateMode {
  return updateModeOf(metadata.annotations) ?? facts.update;
}

/**
 * Lets a pod run on until its successor is ready to take its place, where both can wait for that. A successor that is
 * itself replaced hands on the place that it was to take.
 */
function replace(draft: Draft, uid: PodUid, comer: Pod): void {
  const holder = holderOf(draft, { uid, name: fullNameOf(comer) }) ?? draft.entries.get(uid);
  if (holder?.uid !== uid) forget(draft, uid);
  if (holder?.phase === 'syncing' && modeOf(comer, draft) === 'prepare') {
    if (holder.uid === comer.metadata.uid) return; // it comes back as it was
    note(draft, toReplaced(holder, comer.metadata.uid));
  } else if (holder) {
    unwant(draft, holder);
  }
}

function applyChange(draft: Draft, { op, pod, why }: PodChange): void {
  switch (op) {
    case 'add':
    case 'update':
      want(draft, pod);
      return;
    case 'reconcile':
      accept(draft, pod);
      return;
    case 'delete':
      end(draft, pod.metadata.uid, pod.metadata.deletionGracePeriodSeconds, 'its deletion was asked for');
      return;
    case 'remove':
      unwant(draft, { uid: pod.metadata.uid, name: fullNameOf(pod) }, why);
      return;
    default:
      assertNever(op);
  }
}

/** Takes over what the source says now, without anything to do about it. */
function accept(draft: Draft, pod: Pod): void {
  const entry = draft.entries.get(pod.metadata.uid);
  if (!entry) return;
  if ('again' in entry) note(draft, { ...entry, again: pod });
  else if (entry.pod) note(draft, { ...entry, pod });
}

function unwant(draft: Draft, whose: Pick<Entry, 'uid' | 'name'>, why = 'no source wants it any more'): void {
  const { uid } = whose;
  const entry = draft.entries.get(uid);
  // The place that it was to take is not to be taken by anyone: the manifest as a whole has gone.
  const holder = holderOf(draft, whose);
  if (holder) end(draft, holder.uid, undefined, why);
  if (entry && 'again' in entry) note(draft, toGone(entry));
  else end(draft, uid, undefined, why);
}
