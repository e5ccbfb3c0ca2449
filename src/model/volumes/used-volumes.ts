import { allContainers } from '../containers.ts';
import type { PodSpec } from '../pod.ts';
import type { Volume } from './volume-dir.ts';

/** The volumes that a container mounts or reads variables from; the others are as good as not there (kubelet, GetPodVolumeNames). */
export function usedVolumes(spec: PodSpec): readonly Volume[] {
  const used = new Set(
    allContainers(spec).flatMap(({ volumeMounts = [], env = [] }) => [
      ...volumeMounts.map(({ name }) => name),
      ...env.map(({ valueFrom }) => valueFrom?.fileKeyRef?.volumeName ?? ''),
    ]),
  );
  return (spec.volumes ?? []).filter(({ name }) => used.has(name));
}
