import type { Container, PodSpec } from './pod.ts';
import { parseQuantity } from './quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const RESOURCES = ['cpu', 'memory'] as const;

/** The pod's quality of service (facts sheet 11.4): only cpu and memory count, of regular and init containers alike. */
export function qosClassOf(spec: PodSpec): QosClass {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  if (containers.every(asksNothing)) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function asksNothing({ resources }: Container): boolean {
  return RESOURCES.every((name) => isUnset(resources?.requests?.[name]) && isUnset(resources?.limits?.[name]));
}

function isGuaranteed({ resources }: Container): boolean {
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
