import type { Container, PodSpec } from './pod.ts';

/** An init container that goes on running beside the others: a sidecar (KEP-753). */
export function isSidecar({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean {
  return restartPolicy === 'Always';
}

export function sidecarsOf({ initContainers }: PodSpec): readonly Container[] {
  return (initContainers ?? []).filter(isSidecar);
}

/** Every container that the pod declares, in the order in which they start. */
export function allContainers({ initContainers, containers }: PodSpec): readonly Container[] {
  return [...(initContainers ?? []), ...containers];
}
