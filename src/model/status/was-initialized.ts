import type { ObservedPod } from '../observed.ts';
import type { Pod } from '../pod.ts';

/**
 * A regular container that was made in the sandbox in use shows that the init containers had done their work in it
 * (facts sheet 8.4).
 */
export function wasInitialized(observed: ObservedPod | undefined, { spec }: Pod): boolean {
  const inUse = observed?.sandboxes[0]?.id;
  return spec.containers.some(
    ({ name }) => observed?.containers.some((seen) => seen.name === name && seen.sandboxId === inUse) === true,
  );
}
