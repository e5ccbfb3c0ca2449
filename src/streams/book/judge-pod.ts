import { admitPod, roomOf, type Admission, type Occupant, type Room } from '../../model/admission/admit-pod.ts';
import { addAmounts, amountsOf, type Amounts } from '../../model/admission/amounts.ts';
import type { MapDraft } from '../../model/layered-map.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Draft } from './draft.ts';
import { placedOf } from './places.ts';
import type { Entry, PodBook } from './pod-book.ts';

/**
 * Whether a pod may begin beside those that have their place already. `leaver` is the pod whose place it is to take:
 * what that one holds counts as free.
 */
export function judgePod(draft: Draft, { uid, pod }: Pick<Entry, 'uid' | 'pod'>, leaver?: PodUid): Admission {
  const { node } = draft.facts;
  if (!node || !pod) return { kind: 'admitted' };
  return admitPod(pod, roomWithout(draft, leaver === undefined ? [uid] : [uid, leaver]), node);
}

/** What is taken, those left out. */
function roomWithout({ entries, places }: Draft, uids: readonly PodUid[]): Room {
  const occupants = (): readonly Occupant[] => {
    const found: Occupant[] = [];
    for (const entry of entries.values()) {
      const pod = placedOf(entry);
      if (pod && !uids.includes(entry.uid)) found.push({ pod, isLeaving: entry.phase === 'terminating' });
    }
    return found;
  };
  let used: Amounts | undefined = places.used();
  for (const uid of uids) {
    const pod = placedOf(entries.get(uid));
    if (pod && used) used = addAmounts(used, amountsOf(pod), -1);
  }
  if (!used) return roomOf(occupants());
  return { used, ported: [...places.ported()].flatMap(([uid, pod]) => (uids.includes(uid) ? [] : [pod])), occupants };
}

/** Whether what was refused may be judged otherwise now: somebody came, went, changed, or will leave. */
export function hasRoomChanged(before: PodBook['entries'], after: MapDraft<PodUid, Entry>): boolean {
  for (const uid of after.touched) {
    const [then, now] = [before.get(uid), after.get(uid)];
    if (placedOf(then) !== placedOf(now) || (placedOf(now) && then?.phase !== now?.phase)) return true;
  }
  return false;
}
