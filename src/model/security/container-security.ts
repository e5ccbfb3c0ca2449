import type { Capability, LinuxContainerSecurityContext, SELinuxOption } from '../cri/api.ts';
import type { Container, Pod } from '../pod.ts';
import { effectiveSecurity, type SecurityContext } from './effective-security.ts';
import { podGroups } from './pod-groups.ts';
import { procPaths } from './proc-paths.ts';
import { appArmorProfile, seccompProfile, type SeccompRules } from './profiles.ts';
import { runAs, type ImageUser } from './run-as.ts';

export interface SecurityRules extends SeccompRules {
  readonly thermalThrottlePaths: readonly string[];
}

/** Everything of a container's security but its namespaces, as the runtime gets it (facts sheet 12). */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image: ImageUser,
  rules: SecurityRules,
): LinuxContainerSecurityContext {
  const context = effectiveSecurity(pod.spec, container);
  const { privileged, readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities, seLinuxOptions } = context;
  return {
    ...(privileged === true ? { privileged } : {}),
    ...(capabilities ? { capabilities: capabilitiesOf(capabilities) } : {}),
    ...(readOnlyRootFilesystem === true ? { readonlyRootfs: true } : {}),
    ...(allowPrivilegeEscalation === false ? { noNewPrivs: true } : {}),
    ...(seLinuxOptions ? { selinuxOptions: seLinuxLabel(seLinuxOptions) } : {}),
    ...runAs(context, image),
    ...podGroups(pod.spec),
    ...procPaths(context.procMount, rules.thermalThrottlePaths),
    seccomp: seccompProfile(pod, container, rules),
    ...appArmorProfile(pod, container),
  };
}

/** Names go out as they were written: the runtime knows them with and without CAP_, and `ALL`. */
function capabilitiesOf({ add, drop }: NonNullable<SecurityContext['capabilities']>): Capability {
  return { ...(add ? { addCapabilities: add } : {}), ...(drop ? { dropCapabilities: drop } : {}) };
}

export function seLinuxLabel({
  user,
  role,
  type,
  level,
}: NonNullable<SecurityContext['seLinuxOptions']>): SELinuxOption {
  return { user: user ?? '', role: role ?? '', type: type ?? '', level: level ?? '' };
}
