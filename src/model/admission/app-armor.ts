import { allContainers } from '../containers.ts';
import type { Pod } from '../pod.ts';
import { appArmorProfile } from '../security/profiles.ts';

/** Whether any container is to run under a profile; `unconfined` asks for none. */
export function wantsAppArmor(pod: Pod): boolean {
  return allContainers(pod.spec).some((container) => {
    const { profileType = 'Unconfined' } = appArmorProfile(pod, container).apparmor ?? {};
    return profileType !== 'Unconfined';
  });
}
