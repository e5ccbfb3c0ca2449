import type { ObservedContainer } from '../../model/observed.ts';
import type { Pod } from '../../model/pod.ts';
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
 */
export function spareContainers({ entries }: PodBook): readonly SpareContainer[] {
  return [...entries.values()].flatMap((entry) => {
    if (entry.phase !== 'finished') return [];
    const { pod, observed } = entry;
    const ended = (observed?.containers ?? []).filter(({ state }) => state === 'exited' || state === 'created');
    return ended.toReversed().map((container) => ({ pod, container }));
  });
}
