import { admitPod, type Admission, type Occupant } from '../../model/admission/admit-pod.ts';
import type { MapDraft } from '../../model/layered-map.ts';
import type { PodUid } from '../../model/pod.ts';
import type { BookFacts, Entry, PodBook, PodPhase } from './pod-book.ts';

type Entries = PodBook['entries'];

/**
 * Whether a pod may begin beside those that have their place already. `leaver` is the pod whose place it is to take:
 * what that one holds counts as free.
 */
export function judgePod(
  entries: Entries,
  { node }: BookFacts,
  { uid, pod }: Pick<Entry, 'uid' | 'pod'>,
  leaver?: PodUid,
): Admission {
  if (!node || !pod) return { kind: 'admitted' };
  const occupants: Occupant[] = [];
  for (const other of entries.values()) {
    if (!other.pod || !TAKES_ROOM[other.phase] || other.uid === uid || other.uid === leaver) continue;
    occupants.push({ pod: other.pod, isLeaving: other.phase === 'terminating' });
  }
  return admitPod(pod, occupants, node);
}

/** Whether what was refused may be judged otherwise now: somebody came, went, changed, or will leave. */
export function hasRoomChanged(before: Entries, after: MapDraft<PodUid, Entry>): boolean {
  for (const uid of after.touched) {
    const [then, now] = [holding(before.get(uid)), holding(after.get(uid))];
    if (then?.pod !== now?.pod || then?.phase !== now?.phase) return true;
  }
  return false;
}

function holding(entry: Entry | undefined): Entry | undefined {
  return entry && TAKES_ROOM[entry.phase] ? entry : undefined;
}

const TAKES_ROOM: Readonly<Record<PodPhase, boolean>> = {
  preparing: false,
  waiting: false,
  refused: false,
  syncing: true,
  finished: false,
  terminating: true,
  ended: false,
};
