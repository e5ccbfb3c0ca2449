import { allContainers } from '../containers.ts';
import type { LinuxSandboxSecurityContext } from '../cri/api.ts';
import type { PodSpec } from '../pod.ts';
import { seLinuxLabel } from './container-security.ts';
import { podGroups } from './pod-groups.ts';

/** The sandbox's security but its namespaces (facts sheet 10.1): it is privileged as soon as one container is. */
export function sandboxSecurity(spec: PodSpec): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions } = spec.securityContext ?? {};
  const isPrivileged = allContainers(spec).some(({ securityContext }) => securityContext?.privileged === true);
  return {
    ...(isPrivileged ? { privileged: true } : {}),
    ...(runAsUser === undefined ? {} : { runAsUser: { value: runAsUser } }),
    ...(runAsGroup === undefined ? {} : { runAsGroup: { value: runAsGroup } }),
    ...(seLinuxOptions ? { selinuxOptions: seLinuxLabel(seLinuxOptions) } : {}),
    ...podGroups(spec),
    seccomp: { profileType: 'RuntimeDefault' },
  };
}
