import type { ObservedContainer } from '../../model/observed.ts';
import type { Pod, PodStatus, PodUid } from '../../model/pod.ts';
import type { PodBook } from '../book/pod-book.ts';

/** A container that has ended, and the pod that it was of. */
export interface SpareContainer {
  readonly pod: Pod;
  readonly container: ObservedContainer;
}

/**
 * The containers of pods that are done for good (kubelet, DeleteAllUnusedContainers). How they ended is in the status,
 * which is kept. Of pods that go on every sync leaves one for each name: it tells how long the next one waits, and that
 * what has ended for good need not run again. The oldest of a pod come first: the newest one left is its state.
 *
 * Never before that status is `told`, the one that is kept: an agent that is started now would find neither, and run
 * the pod once more.
 */
export function spareContainers(
  { entries }: PodBook,
  told: (uid: PodUid) => PodStatus | undefined,
): readonly SpareContainer[] {
  return [...entries.values()].flatMap((entry) => {
    if (entry.phase !== 'finished' || told(entry.uid) !== entry.status) return [];
    const { pod, observed } = entry;
    const ended = (observed?.containers ?? []).filter(({ state }) => state === 'exited' || state === 'created');
    return ended.toReversed().map((container) => ({ pod, container }));
  });
}
