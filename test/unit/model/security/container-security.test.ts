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
      'gives user and group of the pod',
      {},
      { runAsUser: 1, runAsGroup: 2 },
      { runAsUser: { value: 1 }, runAsGroup: { value: 2 } },
    ],
    [
      'gives user and group of the container before those of the pod',
      { runAsUser: 3, runAsGroup: 4 },
      { runAsUser: 1, runAsGroup: 2 },
      { runAsUser: { value: 3 }, runAsGroup: { value: 4 } },
    ],
    ['gives privileges', { privileged: true }, {}, { privileged: true }],
    [
      'gives capabilities as they were written, with CAP_ and without, and ALL',
      { capabilities: { add: ['NET_ADMIN', 'CAP_NET_RAW'], drop: ['ALL'] } },
      {},
      { capabilities: { addCapabilities: ['NET_ADMIN', 'CAP_NET_RAW'], dropCapabilities: ['ALL'] } },
    ],
    ['gives a file system that cannot be written', { readOnlyRootFilesystem: true }, {}, { readonlyRootfs: true }],
    [
      'forbids to gain privileges where that is not allowed',
      { allowPrivilegeEscalation: false },
      {},
      { noNewPrivs: true },
    ],
    [
      'gives the group of the volumes before the other groups, each as often as it was given',
      {},
      { fsGroup: 40, supplementalGroups: [50, 60, 50] },
      { supplementalGroups: [40, 50, 60, 50] },
    ],
    [
      'says that the groups of the image do not count',
      {},
      { supplementalGroups: [50], supplementalGroupsPolicy: 'Strict' },
      { supplementalGroups: [50], supplementalGroupsPolicy: 'Strict' },
    ],
    [
      'says that the groups of the image count too',
      {},
      { supplementalGroups: [50], supplementalGroupsPolicy: 'Merge' },
      { supplementalGroups: [50], supplementalGroupsPolicy: 'Merge' },
    ],
    [
      'gives the SELinux label of the pod',
      {},
      { seLinuxOptions: { level: 's0:c1,c2' } },
      { selinuxOptions: { user: '', role: '', type: '', level: 's0:c1,c2' } },
    ],
    [
      'gives the whole SELinux label of the container in the place of that of the pod',
      { seLinuxOptions: { type: 't' } },
      { seLinuxOptions: { level: 's0' } },
      { selinuxOptions: { user: '', role: '', type: 't', level: '' } },
    ],
    [
      'shows and opens all of /proc where that is unmasked',
      { procMount: 'Unmasked' },
      {},
      { maskedPaths: [], readonlyPaths: [] },
    ],
  ])('%s', (_rule, own, ofPod, expected) => {
    const given = security(own, ofPod);
    for (const [field, value] of Object.entries(expected)) expect(given).toHaveProperty(field, value);
  });

  it.each<[rule: string, own: OfContainer, ofPod: OfPod, field: string]>([
    ['forbids nothing where privileges may be gained', { allowPrivilegeEscalation: true }, {}, 'noNewPrivs'],
    ['forbids nothing where nobody says whether privileges may be gained', {}, {}, 'noNewPrivs'],
    ['gives no privileges where they are denied', { privileged: false }, {}, 'privileged'],
    ['lets the file system be written where it is not said to be read-only', {}, {}, 'readonlyRootfs'],
    [
      'leaves the policy of groups to the runtime where nobody says it',
      {},
      { supplementalGroups: [1] },
      'supplementalGroupsPolicy',
    ],
    ['gives no groups where there are none', {}, {}, 'supplementalGroups'],
    ['gives no SELinux label where there is none', {}, {}, 'selinuxOptions'],
    ['leaves the group to the image where nobody gives one', { runAsUser: 1 }, {}, 'runAsGroup'],
  ])('%s', (_rule, own, ofPod, field) => {
    expect(security(own, ofPod)).not.toHaveProperty(field);
  });
});

describe('the paths of the system that a container does not see, or may not change', () => {
  const { maskedPaths, readonlyPaths } = security({});

  it.each([
    '/proc/asound',
    '/proc/acpi',
    '/proc/interrupts',
    '/proc/kcore',
    '/proc/keys',
    '/proc/latency_stats',
    '/proc/timer_list',
    '/proc/timer_stats',
    '/proc/sched_debug',
    '/proc/scsi',
    '/sys/firmware',
    '/sys/devices/virtual/powercap',
  ])('hides %s', (path) => {
    expect(maskedPaths).toContain(path);
  });

  it('hides the heat of the processors that the machine has, and nothing else', () => {
    expect(maskedPaths).toHaveLength(13);
    expect(maskedPaths?.at(-1)).toBe('/sys/devices/heat');
  });

  it.each(['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'])('protects %s', (path) => {
    expect(readonlyPaths).toContain(path);
  });

  it('protects nothing else', () => {
    expect(readonlyPaths).toHaveLength(5);
  });

  it('are the same with the procMount Default', () => {
    expect(security({ procMount: 'Default' })).toMatchObject({ maskedPaths, readonlyPaths });
  });
});

describe('the seccomp profile', () => {
  it.each<[string, OfContainer, OfPod, boolean, object]>([
    ['is none where neither container, pod nor node names one', {}, {}, false, { profileType: 'Unconfined' }],
    ["is the runtime's where only the node says so", {}, {}, true, { profileType: 'RuntimeDefault' }],
    [
      'is that of the pod before that of the node',
      {},
      { seccompProfile: { type: 'Unconfined' } },
      true,
      { profileType: 'Unconfined' },
    ],
    [
      'is that of the container before that of the pod',
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
    ['is said in the newer and the older form', { appArmorProfile: { type: 'Unconfined' } }, {}, undefined, UNCONFINED],
    ["is the runtime's in both forms", { appArmorProfile: { type: 'RuntimeDefault' } }, {}, undefined, DEFAULT],
    [
      'is one of the node by its name in both forms',
      { appArmorProfile: { type: 'Localhost', localhostProfile: 'own' } },
      {},
      undefined,
      OWN,
    ],
    [
      'is that of the pod where nobody else names one',
      {},
      { appArmorProfile: { type: 'RuntimeDefault' } },
      undefined,
      DEFAULT,
    ],
    ['is that of the older annotation', {}, {}, 'localhost/own', OWN],
    ["is the runtime's by the older annotation", {}, {}, 'runtime/default', DEFAULT],
    [
      'is that of the older annotation before that of the pod',
      {},
      { appArmorProfile: { type: 'RuntimeDefault' } },
      'unconfined',
      UNCONFINED,
    ],
    [
      'is that of the container before that of the older annotation',
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
