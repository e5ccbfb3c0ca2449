import type { Container, Pod } from '../pod.ts';
import type { ContainerStatus } from './status-facts.ts';

type MountStatus = NonNullable<ContainerStatus['volumeMounts']>[number];
type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/**
 * What a status tells of the mounts of a container: of one that is read-only also whether that holds for all that is
 * mounted in it, which takes a pod that wants it and a handler of the runtime that can do it.
 */
export function mountStatuses(
  { spec }: Pod,
  { volumeMounts = [] }: Container,
  recursiveReadOnly: ReadonlySet<string> = new Set(),
): Pick<ContainerStatus, 'volumeMounts'> | undefined {
  if (volumeMounts.length === 0) return undefined;
  const canRecurse = recursiveReadOnly.has(spec.runtimeClassName ?? '');
  return { volumeMounts: volumeMounts.map((mount) => mountStatus(mount, canRecurse)) };
}

function mountStatus({ name, mountPath, readOnly, recursiveReadOnly }: VolumeMount, canRecurse: boolean): MountStatus {
  if (readOnly !== true) return { name, mountPath };
  const wants = recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible';
  return { name, mountPath, readOnly, recursiveReadOnly: wants && canRecurse ? 'Enabled' : 'Disabled' };
}
