import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { aContainer, aPod, validate } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
type Container = Parameters<typeof aContainer>[0];

function ofContainer(container: Container, spec: Spec = {}): readonly string[] {
  return validate(aPod({ ...spec, containers: [aContainer(container)] })).map((text) =>
    text.replace('spec.containers[0].', ''),
  );
}

function ofSpec(spec: Spec): readonly string[] {
  return validate(aPod(spec)).map((text) => text.replace('spec.', ''));
}

const RULE = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };

describe('a container', () => {
  it.each<[rule: string, container: Container, problems: readonly string[]]>([
    [
      'may have rules for its restarts, with a policy of its own',
      { restartPolicy: 'Never', restartPolicyRules: [RULE] },
      [],
    ],
    [
      'has no rules for its restarts without a policy of its own',
      { restartPolicyRules: [RULE] },
      ['restartPolicy: is required beside restartPolicyRules'],
    ],
    [
      'has at most 20 rules',
      { restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => RULE) },
      ['restartPolicyRules: must not have more than 20 rules'],
    ],
    [
      'has rules of known actions and operators only',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Stop', exitCodes: { operator: 'Like', values: [1] } }],
      },
      [
        'restartPolicyRules[0].action: "Stop" must be one of Restart, RestartAllContainers',
        'restartPolicyRules[0].exitCodes.operator: "Like" must be one of In, NotIn',
      ],
    ],
    [
      'asks for the devices of claims of its pod only',
      { resources: { claims: [{ name: 'gpu' }] } },
      ['resources.claims[0].name: the pod has no resource claim "gpu"'],
    ],
    [
      'takes all variables of one object at a time',
      { envFrom: [{ prefix: 'A_' }, { configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] },
      [
        'envFrom[0]: must have a configMapRef or a secretRef',
        'envFrom[1]: must not have both a configMapRef and a secretRef',
      ],
    ],
    [
      'mounts read-only all the way down only without propagation',
      {
        volumeMounts: [
          {
            name: 'v',
            mountPath: '/v',
            readOnly: true,
            recursiveReadOnly: 'Enabled',
            mountPropagation: 'HostToContainer',
          },
        ],
      },
      ['volumeMounts[0].recursiveReadOnly: must not be given beside a mountPropagation'],
    ],
    [
      'gives devices from volumes that are devices',
      { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] },
      ['volumeDevices[0].name: "v" must be a persistentVolumeClaim or ephemeral volume of the pod'],
    ],
  ])('%s', (_rule, container, problems) => {
    expect(ofContainer(container, { volumes: [{ name: 'v', emptyDir: {} }] })).toEqual(problems);
  });
});

describe('a pod', () => {
  it.each<[rule: string, spec: Spec, problems: readonly string[]]>([
    ['may have a host name of its own', { hostnameOverride: 'a.example' }, []],
    [
      'has no host name that the kernel does not take',
      { hostnameOverride: `${'a'.repeat(60)}.${'b'.repeat(10)}` },
      ['hostnameOverride: must be at most 64 characters'],
    ],
    [
      'has resources of its own for cpu, memory and huge pages only',
      { resources: { limits: { 'example.com/gpu': '1' } } },
      ['resources.limits[example.com/gpu]: is no resource of a whole pod: cpu, mem'],
    ],
    [
      'gets as much of what cannot be shared as it asks for',
      {
        containers: [
          aContainer({ resources: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } } }),
        ],
      },
      ['containers[0].resources.requests[example.com/gpu]: must equal the limit of example.com/gpu'],
    ],
    [
      'prefers nodes by weights from 1 to 100',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: { matchExpressions: [] } }],
          },
        },
      },
      [
        'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: 101 must be between 1 and 100',
      ],
    ],
    [
      'has gates of readiness with qualified names',
      { readinessGates: [{ conditionType: 'a b' }] },
      ['readinessGates[0].conditionType: '],
    ],
    [
      'is spread once over each kind of place',
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
          { maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
          { maxSkew: 1, topologyKey: '', whenUnsatisfiable: 'Never' },
        ],
      },
      [
        'topologySpreadConstraints[1].maxSkew: 0 must be at least 1',
        'topologySpreadConstraints[2].topologyKey: is required',
        'topologySpreadConstraints[2].whenUnsatisfiable: "Never" must be one of DoNotSchedule, ScheduleAnyway',
        'topologySpreadConstraints[1]: ',
      ],
    ],
    [
      'that shares the IPC of the node has no sysctls of that',
      { hostIPC: true, securityContext: { sysctls: [{ name: 'kernel.shmmax', value: '1' }] } },
      ['securityContext.sysctls[0].name: kernel.shmmax must not be given in a pod with hostIPC'],
    ],
    [
      'has sysctls with names of sysctls',
      { securityContext: { sysctls: [{ name: 'a b', value: '1' }] } },
      ['securityContext.sysctls[0].name: "a b" is no name of a sysctl'],
    ],
    [
      'has groups that are numbers of 31 bits',
      { securityContext: { supplementalGroups: [-1, 2 ** 31] } },
      [
        'securityContext.supplementalGroups[0]: -1 must be between 0 and 2147483647',
        'securityContext.supplementalGroups[1]: 2147483648 must be between 0 and 2147483647',
      ],
    ],
    [
      'is no process of a Windows host',
      { securityContext: { windowsOptions: { hostProcess: true } } },
      ['securityContext.windowsOptions.hostProcess: must not be true on Linux'],
    ],
    [
      'has seccomp profiles below the folder of the node',
      { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '../a.json' } } },
      ['securityContext.seccompProfile.localhostProfile: must be a relative path without ".."'],
    ],
    [
      'has AppArmor profiles without white space around their names',
      { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: ' a' } } },
      ['securityContext.appArmorProfile.localhostProfile: must have no white space around it'],
    ],
    ['has volumes with a source each', { volumes: [{ name: 'a', emptyDir: {} }] }, []],
  ])('%s', (_rule, spec, problems) => {
    const found = ofSpec(spec);
    expect(found.map((text, index) => text.slice(0, problems[index]?.length))).toEqual(problems);
  });
});

describe('the older annotation of AppArmor', () => {
  const KEY = 'container.apparmor.security.beta.kubernetes.io/main';

  it.each([
    ['runtime/default', []],
    ['localhost/a', []],
    ['unconfined', []],
    ['mine', [`metadata.annotations[${KEY}]: "mine" must be runtime/default, unconfined or localhost/<name>`]],
  ])('takes %s as Kubernetes does', (profile, problems) => {
    expect(validate(aPod({}, { annotations: { [KEY]: profile } }))).toEqual(problems);
  });
});
