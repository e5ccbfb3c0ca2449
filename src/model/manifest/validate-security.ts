import type { V1AppArmorProfile, V1SeccompProfile, V1SecurityContext } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Draft, PodDraft, PodSpecDraft } from './draft.ts';
import { distinct, inRange, LARGEST_INT32, oneOf, required } from './rules.ts';
import { hasBackstep } from './syntax.ts';

/** Rules of the pod's `securityContext` and of the namespaces it shares with the node. */
export function validatePodSecurity(spec: PodSpecDraft, path: FieldPath, report: Report): void {
  const { securityContext: context = {}, hostUsers, hostNetwork, hostPID, hostIPC, shareProcessNamespace } = spec;
  const at = (...steps: FieldPath): FieldPath => [...path, 'securityContext', ...steps];
  validateProfiles(context, at(), report);
  for (const field of ['runAsUser', 'runAsGroup', 'fsGroup'] as const)
    inRange(report, at(field), context[field], 0, LARGEST_INT32);
  context.supplementalGroups?.forEach((group, index) => {
    inRange(report, at('supplementalGroups', index), group, 0, LARGEST_INT32);
  });
  oneOf(report, at('fsGroupChangePolicy'), context.fsGroupChangePolicy, ['OnRootMismatch', 'Always']);
  oneOf(report, at('supplementalGroupsPolicy'), context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  oneOf(report, at('seLinuxChangePolicy'), context.seLinuxChangePolicy, ['MountOption', 'Recursive']);
  if (context.windowsOptions?.hostProcess === true)
    report(at('windowsOptions', 'hostProcess'), 'must not be true on Linux');

  const sysctls = context.sysctls ?? [];
  sysctls.forEach(({ name }, index) => {
    const field = at('sysctls', index, 'name');
    if (required(report, field, name) && !(name.length <= 253 && SYSCTL.test(name)))
      report(field, `${JSON.stringify(name)} is no name of a sysctl`);
    if (hostNetwork === true && name?.startsWith('net.'))
      report(field, `${name} must not be given in a pod with hostNetwork`);
    if (hostIPC === true && name !== undefined && IPC_SYSCTL.test(name))
      report(field, `${name} must not be given in a pod with hostIPC`);
  });
  distinct(
    report,
    sysctls.map(({ name }, index) => [at('sysctls', index, 'name'), name]),
  );

  if (hostPID === true && shareProcessNamespace === true)
    report([...path, 'shareProcessNamespace'], 'must not be true beside hostPID');
  if (hostUsers !== false) return;
  for (const [field, given] of Object.entries({ hostNetwork, hostPID, hostIPC })) {
    if (given === true) report([...path, field], 'must not be true when hostUsers is false');
  }
}

/** Rules of the old annotations that name the AppArmor profile of a container. */
export function validateAppArmorAnnotations({ metadata = {}, spec = {} }: PodDraft, report: Report): void {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const [key, profile] of Object.entries(metadata.annotations ?? {})) {
    if (!key.startsWith(APP_ARMOR)) continue;
    const at = ['metadata', 'annotations', key];
    const name = key.slice(APP_ARMOR.length);
    if (!containers.some((container) => container.name === name))
      report(at, `the pod has no container ${JSON.stringify(name)}`);
    if (!/^(?:|unconfined|runtime\/default|localhost\/.+)$/.test(profile))
      report(at, `${JSON.stringify(profile)} must be runtime/default, unconfined or localhost/<name>`);
  }
}

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

/** Rules of one container's `securityContext`. */
export function validateSecurity(
  context: Draft<V1SecurityContext>,
  spec: PodSpecDraft,
  path: FieldPath,
  report: Report,
): void {
  validateProfiles(context, path, report);
  inRange(report, [...path, 'runAsUser'], context.runAsUser, 0, LARGEST_INT32);
  inRange(report, [...path, 'runAsGroup'], context.runAsGroup, 0, LARGEST_INT32);
  if (context.allowPrivilegeEscalation === false) {
    const field = [...path, 'allowPrivilegeEscalation'];
    if (context.privileged === true) report(field, 'must not be false in a privileged container');
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN'))
      report(field, 'must not be false beside the capability CAP_SYS_ADMIN');
  }
  oneOf(report, [...path, 'procMount'], context.procMount, ['Default', 'Unmasked']);
  if (context.procMount === 'Unmasked' && spec.hostUsers !== false)
    report([...path, 'procMount'], 'must not be Unmasked unless hostUsers is false');
}

interface Profiles {
  readonly seccompProfile?: Draft<V1SeccompProfile>;
  readonly appArmorProfile?: Draft<V1AppArmorProfile>;
}

function validateProfiles({ seccompProfile, appArmorProfile }: Profiles, path: FieldPath, report: Report): void {
  for (const [field, profile] of Object.entries({ seccompProfile, appArmorProfile })) {
    if (!profile) continue;
    const at = [...path, field];
    const file = [...at, 'localhostProfile'];
    const { type, localhostProfile: name } = profile;
    if (required(report, [...at, 'type'], type))
      oneOf(report, [...at, 'type'], type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
    if (type === 'Localhost') {
      if (name === undefined || name.trim() === '') report(file, 'is required with the type Localhost');
      else if (field === 'seccompProfile' && (name.startsWith('/') || hasBackstep(name)))
        report(file, 'must be a relative path without ".."');
      else if (field === 'appArmorProfile' && (name.trim() !== name || name.length > 4095))
        report(file, 'must have no white space around it');
    } else if (name !== undefined) report(file, 'must only be given with the type Localhost');
  }
}

const SYSCTL = /^[a-z\d](?:[-_a-z\d]*[a-z\d])?(?:[./][a-z\d](?:[-_a-z\d]*[a-z\d])?)*$/;
const IPC_SYSCTL = /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/;
