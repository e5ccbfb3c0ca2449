import { allContainers } from '../containers.ts';
import type { Pod } from '../pod.ts';

/** Whether any container is to run under a profile; `unconfined` asks for none. */
export function wantsAppArmor({ metadata, spec }: Pod): boolean {
  const profiles = allContainers(spec).flatMap(({ name, securityContext }) => {
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    return [profile?.type ?? metadata.annotations[`${ANNOTATION}${name}`] ?? 'Unconfined'];
  });
  return profiles.some((profile) => !NONE.has(profile));
}

/** The older way to say it. */
const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const NONE: ReadonlySet<string> = new Set(['Unconfined', 'unconfined', '']);
