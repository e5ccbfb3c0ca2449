import type { LinuxContainerSecurityContext, SecurityProfile } from '../cri/api.ts';
import type { Container, Pod } from '../pod.ts';

/** Where the files of `Localhost` seccomp profiles are, and what counts where a pod names none. */
export interface SeccompRules {
  readonly rootDir: string;
  readonly seccompDefault: boolean;
}

/** The container's own profile, else the pod's, else what the node does by default (facts sheet 12). */
export function seccompProfile(
  { spec }: Pod,
  { securityContext }: Container,
  { rootDir, seccompDefault }: SeccompRules,
): SecurityProfile {
  const profile = securityContext?.seccompProfile ?? spec.securityContext?.seccompProfile;
  switch (profile?.type) {
    case 'Localhost':
      return { profileType: 'Localhost', localhostRef: `${rootDir}/seccomp/${profile.localhostProfile ?? ''}` };
    case 'Unconfined':
      return { profileType: 'Unconfined' };
    case 'RuntimeDefault':
      return { profileType: 'RuntimeDefault' };
    default:
      return { profileType: seccompDefault ? 'RuntimeDefault' : 'Unconfined' };
  }
}

const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST = 'localhost/';

/**
 * The AppArmor profile: the container's field, the old annotation for it, the pod's field (facts sheet 12). Said twice,
 * in the old form and the new one, since runtimes read the one or the other.
 */
export function appArmorProfile(
  { metadata, spec }: Pod,
  { name, securityContext }: Container,
): Pick<LinuxContainerSecurityContext, 'apparmor' | 'apparmorProfile'> {
  const annotation = metadata.annotations[`${ANNOTATION}${name}`] ?? '';
  const field = spec.securityContext?.appArmorProfile;
  const profile = securityContext?.appArmorProfile ?? ofAnnotation(annotation) ?? field;
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { apparmor: { profileType: 'RuntimeDefault' }, apparmorProfile: 'runtime/default' };
    case 'Unconfined':
      return { apparmor: { profileType: 'Unconfined' }, apparmorProfile: 'unconfined' };
    case 'Localhost': {
      const localhostRef = profile.localhostProfile ?? '';
      return { apparmor: { profileType: 'Localhost', localhostRef }, apparmorProfile: `${LOCALHOST}${localhostRef}` };
    }
    default:
      return {};
  }
}

function ofAnnotation(text: string): { readonly type: string; readonly localhostProfile?: string } | undefined {
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  if (text === 'unconfined') return { type: 'Unconfined' };
  return text.startsWith(LOCALHOST) ? { type: 'Localhost', localhostProfile: text.slice(LOCALHOST.length) } : undefined;
}
