import { describe, expect, it } from 'vitest';
import type { LinuxContainerSecurityContext } from '../../../../src/model/cri/api.ts';
import type { Container, PodSpec } from '../../../../src/model/pod.ts';
import { containerSecurity } from '../../../../src/model/security/container-security.ts';
import { pod, wanted } from '../../../marbles/fakes.ts';

type OfContainer = NonNullable<Container['securityContext']>;
type OfPod = NonNullable<PodSpec['securityContext']>;

const RULES = { rootDir: '/var/lib/kubelet', seccompDefault: false, thermalThrottlePaths: ['/sys/devices/heat'] };
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/main';

function security(own: OfContainer, ofPod: OfPod = {}, rules = RULES, annotations = {}): LinuxContainerSecurityContext {
  const of = pod({ metadata: { annotations }, spec: { securityContext: ofPod } });
  return containerSecurity(of, wanted('main', { securityContext: own }), {}, rules);
}

describe('containerSecurity', () => {
  it('says of a container that asks for nothing only how it is confined', () => {
    const { maskedPaths, readonlyPaths, ...rest } = security({});
    expect(rest).toEqual({ runAsUser: { value: 0 }, seccomp: { profileType: 'Unconfined' } });
    expect(maskedPaths).toContain('/proc/kcore');
    expect(maskedPaths).toContain('/sys/devices/heat');
    expect(readonlyPaths).toContain('/proc/sys');
  });

  it.each<[string, OfContainer, OfPod, LinuxContainerSecurityContext]>([
    [
      'user and group of the pod',
      {},
      { runAsUser: 1, runAsGroup: 2 },
      { runAsUser: { value: 1 }, runAsGroup: { value: 2 } },
    ],
    [
      'user and group of the container before those',
      { runAsUser: 3, runAsGroup: 4 },
      { runAsUser: 1, runAsGroup: 2 },
      { runAsUser: { value: 3 }, runAsGroup: { value: 4 } },
    ],
    ['privileges', { privileged: true }, {}, { privileged: true }],
    [
      'capabilities as they were written',
      { capabilities: { add: ['NET_ADMIN', 'CAP_NET_RAW'], drop: ['ALL'] } },
      {},
      { capabilities: { addCapabilities: ['NET_ADMIN', 'CAP_NET_RAW'], dropCapabilities: ['ALL'] } },
    ],
    ['a file system that cannot be written', { readOnlyRootFilesystem: true }, {}, { readonlyRootfs: true }],
    ['that no process may gain privileges', { allowPrivilegeEscalation: false }, {}, { noNewPrivs: true }],
    [
      'the group of the volumes before the other groups, each as often as it was given',
      {},
      { fsGroup: 40, supplementalGroups: [50, 60, 50], supplementalGroupsPolicy: 'Strict' },
      { supplementalGroups: [40, 50, 60, 50], supplementalGroupsPolicy: 'Strict' },
    ],
    [
      'the SELinux label of the pod',
      {},
      { seLinuxOptions: { level: 's0:c1,c2' } },
      { selinuxOptions: { user: '', role: '', type: '', level: 's0:c1,c2' } },
    ],
    [
      'the SELinux label of the container in the place of that of the pod',
      { seLinuxOptions: { type: 't' } },
      { seLinuxOptions: { level: 's0' } },
      { selinuxOptions: { user: '', role: '', type: 't', level: '' } },
    ],
    ['all of /proc where that is unmasked', { procMount: 'Unmasked' }, {}, { maskedPaths: [], readonlyPaths: [] }],
  ])('passes on %s', (_what, own, ofPod, expected) => {
    expect(security(own, ofPod)).toMatchObject(expected);
  });

  it('forbids nothing where privileges may be gained', () => {
    expect(security({ allowPrivilegeEscalation: true })).not.toHaveProperty('noNewPrivs');
  });
});

describe('the seccomp profile', () => {
  it.each<[string, OfContainer, OfPod, boolean, object]>([
    ['is none by default', {}, {}, false, { profileType: 'Unconfined' }],
    ["is the runtime's where the node says so", {}, {}, true, { profileType: 'RuntimeDefault' }],
    ['is that of the pod', {}, { seccompProfile: { type: 'Unconfined' } }, true, { profileType: 'Unconfined' }],
    [
      'is that of the container before it',
      { seccompProfile: { type: 'RuntimeDefault' } },
      { seccompProfile: { type: 'Unconfined' } },
      false,
      { profileType: 'RuntimeDefault' },
    ],
    [
      "is a file below the agent's folder",
      { seccompProfile: { type: 'Localhost', localhostProfile: 'sub/allow.json' } },
      {},
      false,
      { profileType: 'Localhost', localhostRef: '/var/lib/kubelet/seccomp/sub/allow.json' },
    ],
  ])('%s', (_rule, own, ofPod, seccompDefault, seccomp) => {
    expect(security(own, ofPod, { ...RULES, seccompDefault }).seccomp).toEqual(seccomp);
  });
});

describe('the AppArmor profile', () => {
  const UNCONFINED = { apparmor: { profileType: 'Unconfined' }, apparmorProfile: 'unconfined' };
  const DEFAULT = { apparmor: { profileType: 'RuntimeDefault' }, apparmorProfile: 'runtime/default' };
  const OWN = { apparmor: { profileType: 'Localhost', localhostRef: 'own' }, apparmorProfile: 'localhost/own' };

  it.each<[string, OfContainer, OfPod, string | undefined, object]>([
    ['is said in both forms', { appArmorProfile: { type: 'Unconfined' } }, {}, undefined, UNCONFINED],
    ['is that of the pod', {}, { appArmorProfile: { type: 'RuntimeDefault' } }, undefined, DEFAULT],
    ['is that of the annotation', {}, {}, 'localhost/own', OWN],
    [
      'of the annotation goes before that of the pod',
      {},
      { appArmorProfile: { type: 'RuntimeDefault' } },
      'unconfined',
      UNCONFINED,
    ],
    [
      'of the container goes before that of the annotation',
      { appArmorProfile: { type: 'Localhost', localhostProfile: 'own' } },
      {},
      'unconfined',
      OWN,
    ],
  ])('%s', (_rule, own, ofPod, annotation, expected) => {
    const annotations = annotation === undefined ? {} : { [APP_ARMOR]: annotation };
    expect(security(own, ofPod, RULES, annotations)).toMatchObject(expected);
  });

  it('is left to the runtime where nobody names one', () => {
    expect(security({})).not.toHaveProperty('apparmor');
    expect(security({})).not.toHaveProperty('apparmorProfile');
  });
});
