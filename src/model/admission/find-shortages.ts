import type { AdmissionNode } from './admission-node.ts';
import type { Amounts } from './amounts.ts';

/** A resource of which there is not enough left. */
export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

/**
 * What a pod asks for and the node has not left, in the order in which the kubelet names it: the number of pods, cpu,
 * memory, storage, then everything else. An extended resource that the node does not have at all is not counted, since
 * without a scheduler nobody but the node itself could have promised it.
 */
export function findShortages(
  asked: Amounts,
  used: Amounts,
  { allocatable }: Pick<AdmissionNode, 'allocatable'>,
): readonly Shortage[] {
  const others = Object.keys(asked)
    .filter((name) => !FIRST.includes(name))
    .sort();
  return [...FIRST, ...others].flatMap((resource): readonly Shortage[] => {
    const requested = asked[resource] ?? 0;
    const has = allocatable[resource];
    if (requested === 0 || (has === undefined && !isNative(resource))) return [];
    const shortage = { resource, requested, used: used[resource] ?? 0, capacity: has ?? 0 };
    return missing(shortage) > 0 ? [shortage] : [];
  });
}

const FIRST: readonly string[] = ['pods', 'cpu', 'memory', 'ephemeral-storage'];

function isNative(resource: string): boolean {
  return (FIRST.includes(resource) && resource !== 'ephemeral-storage') || resource.startsWith('hugepages-');
}

/** How much would have to be given back before the pod fits. */
export function missing({ requested, used, capacity }: Shortage): number {
  return requested - (capacity - used);
}
