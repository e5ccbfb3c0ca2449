import type { PodSpec } from '../pod.ts';
import { podLimits } from '../pod-resources.ts';
import { parseQuantity, wholeValue } from '../quantity.ts';
import type { Volume } from './volume-dir.ts';

/**
 * Bytes that a volume in memory may take: what the node has for pods, or the memory limit of the pod, or the
 * `sizeLimit` of the volume, whichever is least (facts sheet 15.3). The pod has a limit when all of its containers do.
 */
export function memorySize(spec: PodSpec, volume: Volume, allocatable: number): number {
  const ofPod = isLimited(spec) ? bytes(podLimits(spec)['memory']) : 0;
  const ofVolume = bytes(volume.emptyDir?.sizeLimit);
  return Math.min(allocatable, ...[ofPod, ofVolume].filter((size) => size > 0));
}

function isLimited({ containers, initContainers = [], resources }: PodSpec): boolean {
  if (resources?.limits?.['memory'] !== undefined) return true;
  return [...containers, ...initContainers].every((container) => bytes(container.resources?.limits?.['memory']) > 0);
}

function bytes(text: string | undefined): number {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? wholeValue(quantity) : 0;
}
