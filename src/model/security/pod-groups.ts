import type { LinuxContainerSecurityContext } from '../cri/api.ts';
import type { PodSpec } from '../pod.ts';

type Groups = Pick<LinuxContainerSecurityContext, 'supplementalGroups' | 'supplementalGroupsPolicy'>;

/** The further groups of every process of a pod: first the one that owns its volumes, then those of the spec. */
export function podGroups({ securityContext = {} }: PodSpec): Groups {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy: policy } = securityContext;
  const groups = [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups];
  return {
    ...(groups.length === 0 ? {} : { supplementalGroups: groups }),
    ...(policy === 'Merge' || policy === 'Strict' ? { supplementalGroupsPolicy: policy } : {}),
  };
}
