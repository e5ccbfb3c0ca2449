import { hasPodLevelResources } from './pod-resources.ts';
import type { PodSpec } from './pod.ts';
import { parseQuantity } from './quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const RESOURCES = ['cpu', 'memory'] as const;

/**
 * The pod's quality of service (facts sheet 11.4): only cpu and memory count, of regular and init containers alike. What
 * the pod asks for as a whole stands for all of them.
 */
export function qosClassOf(spec: PodSpec): QosClass {
  const asking: readonly Asking[] = hasPodLevelResources(spec)
    ? [{ resources: spec.resources }]
    : [...spec.containers, ...(spec.initContainers ?? [])];
  if (asking.every(asksNothing)) return 'BestEffort';
  return asking.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

interface Asking {
  readonly resources?: PodSpec['resources'];
}

function asksNothing({ resources }: Asking): boolean {
  return RESOURCES.every((name) => isUnset(resources?.requests?.[name]) && isUnset(resources?.limits?.[name]));
}

function isGuaranteed({ resources }: Asking): boolean {
  return RESOURCES.every((name) => {
    const limit = resources?.limits?.[name];
    const request = resources?.requests?.[name] ?? limit;
    return !isUnset(limit) && nanoOf(limit) === nanoOf(request);
  });
}

function isUnset(quantity: string | undefined): boolean {
  return nanoOf(quantity) === 0n;
}

function nanoOf(quantity: string | undefined): bigint {
  return (quantity === undefined ? undefined : parseQuantity(quantity))?.nano ?? 0n;
}
