import { admitPod, type Admission, type Occupant } from '../../model/admission/admit-pod.ts';
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
export function hasRoomChanged(before: Entries, after: Entries): boolean {
  const [then, now] = [holders(before), holders(after)];
  return (
    then.length !== now.length ||
    now.some((entry, index) => {
      const former = then[index];
      return former?.pod !== entry.pod || former?.phase !== entry.phase;
    })
  );
}

function holders(entries: Entries): readonly Entry[] {
  return [...entries.values()].filter(({ phase }) => TAKES_ROOM[phase]);
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
