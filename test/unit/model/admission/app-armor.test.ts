import { describe, expect, it } from 'vitest';
import { wantsAppArmor } from '../../../../src/model/admission/app-armor.ts';
import type { Container, Pod, PodSpec } from '../../../../src/model/pod.ts';
import { pod, wanted } from '../../../marbles/fakes.ts';

type Profile = NonNullable<NonNullable<PodSpec['securityContext']>['appArmorProfile']>;

const CONFINED: Profile = { type: 'RuntimeDefault' };
const FREE: Profile = { type: 'Unconfined' };

interface Says {
  readonly ofPod?: Profile;
  readonly annotation?: string;
  readonly own?: Profile;
}

function podThat({ ofPod, annotation, own }: Says, more: Partial<PodSpec> = {}): Pod {
  return pod({
    metadata: {
      annotations:
        annotation === undefined ? {} : { 'container.apparmor.security.beta.kubernetes.io/main': annotation },
    },
    spec: { ...(ofPod ? { securityContext: { appArmorProfile: ofPod } } : {}), containers: [that(own)], ...more },
  });
}

function that(own: Profile | undefined, name = 'main'): Container {
  return wanted(name, own ? { securityContext: { appArmorProfile: own } } : {});
}

describe('wantsAppArmor', () => {
  it.each<[rule: string, of: Pod, wants: boolean]>([
    ['is not so where nobody names a profile', podThat({}), false],
    ['is so where the pod names one', podThat({ ofPod: CONFINED }), true],
    ['is not so where the pod wants none', podThat({ ofPod: FREE }), false],
    ['is so where the older annotation names one', podThat({ annotation: 'localhost/own' }), true],
    ['is not so where the older annotation wants none', podThat({ annotation: 'unconfined' }), false],
    [
      'is not so where the older annotation wants none for the only container of a pod that names one',
      podThat({ ofPod: CONFINED, annotation: 'unconfined' }),
      false,
    ],
    ['is so where a container names one', podThat({ own: CONFINED }), true],
    [
      'is not so where every container wants none of what the pod names',
      podThat({ ofPod: CONFINED, own: FREE }),
      false,
    ],
    [
      'is so where one container of several is left with what the pod names',
      podThat({ ofPod: CONFINED }, { containers: [that(FREE), that(undefined, 'other')] }),
      true,
    ],
    ['is so where an init container names one', podThat({}, { initContainers: [that(CONFINED, 'init')] }), true],
  ])('%s', (_rule, of, wants) => {
    expect(wantsAppArmor(of)).toBe(wants);
  });
});
