import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { aContainer, aPod, validate } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
type Container = NonNullable<Parameters<typeof aContainer>[0]>;
type Volume = NonNullable<Spec['volumes']>[number];
type EnvSource = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;
type Probe = NonNullable<Container['readinessProbe']>;
type Toleration = NonNullable<Spec['tolerations']>[number];

/** What is told begins as expected, and there is nothing else. */
function expectProblems(pod: PodDraft, within: string, expected: readonly string[]): void {
  const found = validate(pod).map((text) => text.replace(within, ''));
  expect(found.map((text, index) => text.slice(0, expected[index]?.length))).toEqual(expected);
}

const ofContainer = (container: Container, expected: readonly string[], spec: Spec = {}): void => {
  const volumes = [{ name: 'v', emptyDir: {} }];
  expectProblems(aPod({ volumes, ...spec, containers: [aContainer(container)] }), 'spec.containers[0].', expected);
};

const times = <T>(count: number, item: T): readonly T[] => Array.from({ length: count }, () => item);

describe('a container', () => {
  const exits = (exitCodes: object): Container => ({
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes }],
  });

  it.each<[rule: string, container: Container, problems: readonly string[]]>([
    [
      'has exit codes in every rule for its restarts',
      { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] },
      ['restartPolicyRules[0].exitCodes: is required'],
    ],
    [
      'has one exit code at least in a rule',
      exits({ operator: 'In', values: [] }),
      ['restartPolicyRules[0].exitCodes.values: must have at least one'],
    ],
    [
      'has 255 exit codes at most in a rule',
      exits({ operator: 'In', values: times(256, 1) }),
      ['restartPolicyRules[0].exitCodes.values: must not have more than 255'],
    ],
    ['may have 255 exit codes in a rule', exits({ operator: 'NotIn', values: times(255, 1) }), []],
    [
      'has an operator in every rule',
      exits({ values: [1] }),
      ['restartPolicyRules[0].exitCodes.operator: is required'],
    ],
    [
      'is resized in cpu and memory only',
      { resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] },
      ['resizePolicy[0].resourceName: "disk" must be one of cpu, memory'],
    ],
    [
      'is resized with a restart or without',
      { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'Maybe' }] },
      ['resizePolicy[0].restartPolicy: "Maybe" must be one of'],
    ],
    [
      'says once how a resource is resized',
      {
        resizePolicy: [
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        ],
      },
      ['resizePolicy[1].resourceName: "cpu" is given twice'],
    ],
    ['names its ports by DNS', { ports: [{ containerPort: 1, name: 'A_B' }] }, ['ports[0].name: "A_B" must be']],
    [
      'has a letter in the name of a port',
      { ports: [{ containerPort: 1, name: '80' }] },
      ['ports[0].name: "80" must be'],
    ],
    [
      'may have one port of the node for two protocols',
      {
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5, protocol: 'UDP' },
        ],
      },
      [],
    ],
    [
      'knows three ways of propagation',
      { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Both' }] },
      ['volumeMounts[0].mountPropagation: "Both" must be one of'],
    ],
    [
      'knows three ways of being read-only all the way down',
      { volumeMounts: [{ name: 'v', mountPath: '/a', readOnly: true, recursiveReadOnly: 'Yes' }] },
      ['volumeMounts[0].recursiveReadOnly: "Yes" must be one of'],
    ],
    ['names the volume of a mount', { volumeMounts: [{ mountPath: '/a' }] }, ['volumeMounts[0].name: is required']],
    [
      'expands no path of a mount that leads upwards',
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: '../x' }] },
      ['volumeMounts[0].subPathExpr: "../x" must not contain'],
    ],
    [
      'has the user and group numbers of 31 bits',
      { securityContext: { runAsUser: 2 ** 31, runAsGroup: -1 } },
      ['securityContext.runAsUser: 2147483648 must be', 'securityContext.runAsGroup: -1 must be'],
    ],
    [
      'may gain privileges where it has CAP_SYS_ADMIN',
      { securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } },
      ['securityContext.allowPrivilegeEscalation: must not be false beside'],
    ],
    [
      'knows two kinds of /proc',
      { securityContext: { procMount: 'None' } },
      ['securityContext.procMount: "None" must be one of Default, Unmasked'],
    ],
    [
      'has a type of profile',
      { securityContext: { seccompProfile: {} } },
      ['securityContext.seccompProfile.type: is required'],
    ],
    [
      'knows three types of profiles',
      { securityContext: { appArmorProfile: { type: 'Own' } } },
      ['securityContext.appArmorProfile.type: "Own" must be one of'],
    ],
    [
      'names resources as labels are named',
      { resources: { limits: { 'a b/c': '1' } } },
      ['resources.limits[a b/c]: the name of a resource'],
    ],
    [
      'has no extended resource that begins with requests.',
      { resources: { limits: { 'requests.a.b/c': '1' } } },
      ['resources.limits[requests.a.b/c]: the name of an extended resource must not begin'],
    ],
    [
      'names huge pages by their size',
      { resources: { limits: { cpu: '1', 'hugepages-x': '1' } } },
      ['resources.limits[hugepages-x]: must name a page size'],
    ],
    [
      'requests as many huge pages as its limit',
      { resources: { limits: { cpu: '1', 'hugepages-2Mi': '4Mi' }, requests: { 'hugepages-2Mi': '2Mi' } } },
      ['resources.requests[hugepages-2Mi]: must equal the limit'],
    ],
  ])('%s', (_rule, container, problems) => {
    ofContainer(container, problems);
  });
});

describe('a variable', () => {
  const from = (valueFrom: EnvSource): Container => ({ env: [{ name: 'A', valueFrom }] });
  const AT = 'env[0].valueFrom';

  it.each<[rule: string, container: Container, problems: readonly string[]]>([
    [
      'has a prefix that names of variables can have',
      { envFrom: [{ prefix: 'A=', configMapRef: { name: 'a' } }] },
      ['envFrom[0].prefix: "A=" must be printable'],
    ],
    ['names the ConfigMap of many', { envFrom: [{ configMapRef: {} }] }, ['envFrom[0].configMapRef.name: is required']],
    ['names the Secret of many', { envFrom: [{ secretRef: {} }] }, ['envFrom[0].secretRef.name: is required']],
    [
      'has one source',
      from({ fieldRef: { fieldPath: 'metadata.uid' }, resourceFieldRef: { resource: 'limits.cpu' } }),
      [`${AT}: must not have more than one source`],
    ],
    ['names its ConfigMap', from({ configMapKeyRef: { key: 'k' } }), [`${AT}.configMapKeyRef.name: is required`]],
    ['names its Secret', from({ secretKeyRef: { key: 'k' } }), [`${AT}.secretKeyRef.name: is required`]],
    ['names the key of its object', from({ secretKeyRef: { name: 'a' } }), [`${AT}.secretKeyRef.key: is required`]],
    [
      'names a key that an object can have',
      from({ configMapKeyRef: { name: 'a', key: 'a b' } }),
      [`${AT}.configMapKeyRef.key: "a b" must be`],
    ],
    [
      'names key, volume and path of its file',
      from({ fileKeyRef: {} }),
      [
        `${AT}.fileKeyRef.key: is required`,
        `${AT}.fileKeyRef.volumeName: is required`,
        `${AT}.fileKeyRef.path: is required`,
      ],
    ],
    [
      'has a file within its volume',
      from({ fileKeyRef: { key: 'k', volumeName: 'v', path: '../x' } }),
      [`${AT}.fileKeyRef.path: "../x" must not contain`],
    ],
    [
      'tells fields of v1 only',
      from({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.uid' } }),
      [`${AT}.fieldRef.apiVersion: "v2" must be one of v1`],
    ],
    ['names its field', from({ fieldRef: {} }), [`${AT}.fieldRef.fieldPath: is required`]],
    [
      'names a label that there can be',
      from({ fieldRef: { fieldPath: "metadata.labels['a b']" } }),
      [`${AT}.fieldRef.fieldPath: "a b" must have`],
    ],
    ['names its resource', from({ resourceFieldRef: {} }), [`${AT}.resourceFieldRef.resource: is required`]],
    [
      'tells resources of containers only',
      from({ resourceFieldRef: { resource: 'limits.pods' } }),
      [`${AT}.resourceFieldRef.resource: "limits.pods" must be limits. or requests.`],
    ],
    [
      'counts bytes in powers of a thousand or of 1024',
      from({ resourceFieldRef: { resource: 'limits.memory', divisor: '3Mi' } }),
      [`${AT}.resourceFieldRef.divisor: "3Mi" must be one of`],
    ],
  ])('%s', (_rule, container, problems) => {
    ofContainer(container, problems);
  });
});

describe('a probe or a hook', () => {
  const asks = (readinessProbe: Probe): Container => ({ readinessProbe });
  const tcp = { tcpSocket: { port: 1 } };

  it.each<[rule: string, container: Container, problems: readonly string[]]>([
    ['asks a port by grpc', asks({ grpc: { port: 0 } }), ['readinessProbe.grpc.port: 0 must be']],
    ...(['initialDelaySeconds', 'timeoutSeconds', 'successThreshold', 'failureThreshold'] as const).map(
      (field): [string, Container, readonly string[]] => [
        `has no negative ${field}`,
        asks({ ...tcp, [field]: -1 }),
        [`readinessProbe.${field}: -1 must be`],
      ],
    ),
    [
      'that starts a container succeeds once',
      { startupProbe: { ...tcp, successThreshold: 2 } },
      ['startupProbe.successThreshold: 2 must be 1'],
    ],
    ['of readiness may succeed more than once', asks({ ...tcp, successThreshold: 2 }), []],
    [
      'of readiness has no grace, as it ends nothing',
      asks({ ...tcp, terminationGracePeriodSeconds: 1 }),
      ['readinessProbe.terminationGracePeriodSeconds: has no meaning'],
    ],
    [
      'has a grace of a second at least',
      { livenessProbe: { ...tcp, terminationGracePeriodSeconds: 0 } },
      ['livenessProbe.terminationGracePeriodSeconds: 0 must be at least 1'],
    ],
    ['asks a port by http', asks({ httpGet: { port: 70_000 } }), ['readinessProbe.httpGet.port: 70000 must be']],
    ['may ask a port by its name', asks({ httpGet: { port: 'web' } }), []],
    [
      'asks a port by a name that there can be',
      asks({ tcpSocket: { port: 'A_B' } }),
      ['readinessProbe.tcpSocket.port: "A_B" must be'],
    ],
    ['asks a port by some name', asks({ tcpSocket: { port: '' } }), ['readinessProbe.tcpSocket.port: is required']],
    [
      'sends headers with names of headers',
      asks({ httpGet: { port: 1, httpHeaders: [{ name: 'A B', value: 'x' }] } }),
      ['readinessProbe.httpGet.httpHeaders[0].name: "A B" must be'],
    ],
    [
      'runs a command after the start that is one',
      { lifecycle: { postStart: { exec: {} } } },
      ['lifecycle.postStart.exec.command: is required'],
    ],
    [
      'sleeps for no negative time',
      { lifecycle: { postStart: { sleep: { seconds: -1 } } } },
      ['lifecycle.postStart.sleep: -1 must be'],
    ],
  ])('%s', (_rule, container, problems) => {
    ofContainer(container, problems);
  });

  it('may name a signal, where the pod names its system, and only one that there is', () => {
    ofContainer({ lifecycle: { stopSignal: 'SIGUSR1' } }, [], { os: { name: 'linux' } });
    ofContainer({ lifecycle: { stopSignal: 'SIGNAL' } }, ['lifecycle.stopSignal: "SIGNAL" is no signal'], {
      os: { name: 'linux' },
    });
  });

  it('is none of an init container that does not run on, and may be one of a sidecar', () => {
    const init = (more: Container): Spec => ({
      initContainers: [aContainer({ name: 'i', lifecycle: { preStop: { exec: { command: ['x'] } } }, ...more })],
    });
    expectProblems(aPod(init({})), 'spec.', ['initContainers[0].lifecycle: must not be given for an init container']);
    expectProblems(aPod(init({ restartPolicy: 'Always' })), 'spec.', []);
  });
});

describe('a pod', () => {
  const node = (expression: object): Spec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
      },
    },
  });
  const field = (expression: object): Spec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [expression] }] },
      },
    },
  });
  const TERM = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]';
  const tolerates = (toleration: Toleration): Spec => ({ tolerations: [toleration] });

  it.each<[rule: string, spec: Spec, problems: readonly string[]]>([
    ['has a subdomain that is a DNS label', { subdomain: 'a.b' }, ['subdomain: "a.b" must be']],
    ['has a host name of DNS', { hostnameOverride: 'A' }, ['hostnameOverride: "A" must be']],
    [
      'has no host name of its own on the network of the node',
      { hostnameOverride: 'a', hostNetwork: true },
      ['hostnameOverride: must not be given in a pod with hostNetwork'],
    ],
    [
      'has a host name of its own or one of DNS',
      { hostnameOverride: 'a', setHostnameAsFQDN: true },
      ['hostnameOverride: must not be given beside setHostnameAsFQDN'],
    ],
    [
      'has aliases that are names of hosts',
      { hostAliases: [{ ip: '::1', hostnames: ['A_B'] }] },
      ['hostAliases[0].hostnames[0]: "A_B" must be'],
    ],
    ['has aliases of addresses', { hostAliases: [{ hostnames: ['a'] }] }, ['hostAliases[0].ip: is required']],
    ['knows four ways of resolving names', { dnsPolicy: 'Own' }, ['dnsPolicy: "Own" must be one of']],
    [
      'has 32 domains to search at most',
      { dnsConfig: { searches: times(33, 'a.b') } },
      ['dnsConfig.searches: must not have more than 32'],
    ],
    [
      'has domains to search of 2048 characters at most',
      { dnsConfig: { searches: times(32, 'a'.repeat(63) + '.b') } },
      ['dnsConfig.searches: must not be longer than 2048'],
    ],
    [
      'has domains to search that are domains',
      { dnsConfig: { searches: ['a b', '.', '_a.b.'] } },
      ['dnsConfig.searches[0]: "a b" must be'],
    ],
    [
      'names the options of DNS',
      { dnsConfig: { options: [{ value: '1' }] } },
      ['dnsConfig.options[0].name: is required'],
    ],
    [
      'has group numbers of 31 bits',
      { securityContext: { runAsUser: -1, runAsGroup: -1, fsGroup: 2 ** 31 } },
      [
        'securityContext.runAsUser: -1 must be',
        'securityContext.runAsGroup: -1 must be',
        'securityContext.fsGroup: 2147483648 must be',
      ],
    ],
    [
      'gives its volumes to a group in one of two ways',
      { securityContext: { fsGroupChangePolicy: 'Never' } },
      ['securityContext.fsGroupChangePolicy: "Never" must be one of'],
    ],
    [
      'has groups by one of two policies',
      { securityContext: { supplementalGroupsPolicy: 'Own' } },
      ['securityContext.supplementalGroupsPolicy: "Own" must be one of'],
    ],
    [
      'labels its volumes in one of two ways',
      { securityContext: { seLinuxChangePolicy: 'Own' } },
      ['securityContext.seLinuxChangePolicy: "Own" must be one of'],
    ],
    [
      'sets a sysctl once',
      {
        securityContext: {
          sysctls: [
            { name: 'kernel.a', value: '1' },
            { name: 'kernel.a', value: '2' },
          ],
        },
      },
      ['securityContext.sysctls[1].name: "kernel.a" is given twice'],
    ],
    [
      'names its sysctls',
      { securityContext: { sysctls: [{ value: '1' }] } },
      ['securityContext.sysctls[0].name: is req'],
    ],
    [
      'shares neither processes nor IPC with the node where its users are its own',
      { hostUsers: false, hostPID: true, hostIPC: true },
      ['hostPID: must not be true when', 'hostIPC: must not be true when'],
    ],
    ['selects nodes by labels that there can be', { nodeSelector: { 'a b': 'c' } }, ['nodeSelector[a b]: the key']],
    ['has a class of priority with a name', { priorityClassName: 'A' }, ['priorityClassName: "A" must be']],
    ['has a handler of the runtime with a name', { runtimeClassName: 'A' }, ['runtimeClassName: "A" must be']],
    ['preempts or never does', { preemptionPolicy: 'Own' }, ['preemptionPolicy: "Own" must be one of']],
    ['tolerates keys that there can be', tolerates({ key: 'a b' }), ['tolerations[0].key: "a b" must have']],
    [
      'tolerates by Equal or Exists',
      tolerates({ key: 'a', operator: 'Like' }),
      ['tolerations[0].operator: "Like" must be one of'],
    ],
    [
      'tolerates values that there can be',
      tolerates({ key: 'a', value: 'b c' }),
      ['tolerations[0].value: "b c" must be'],
    ],
    [
      'tolerates three effects',
      tolerates({ key: 'a', effect: 'Own' }),
      ['tolerations[0].effect: "Own" must be one of'],
    ],
    [
      'is spread over places with keys that there can be',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: 'ScheduleAnyway' }] },
      ['topologySpreadConstraints[0].topologyKey: "a b" must have'],
    ],
    [
      'asks for labels that there can be',
      node({ key: 'a b', operator: 'Exists' }),
      [`${TERM}.matchExpressions[0].key: `],
    ],
    [
      'asks for labels by six operators',
      node({ key: 'a', operator: 'Like', values: ['b'] }),
      [`${TERM}.matchExpressions[0].operator: "Like" must be one of`],
    ],
    [
      'gives In its values',
      node({ key: 'a', operator: 'In' }),
      [`${TERM}.matchExpressions[0].values: must not be empty`],
    ],
    [
      'gives Exists no values',
      node({ key: 'a', operator: 'Exists', values: ['b'] }),
      [`${TERM}.matchExpressions[0].values: must be empty`],
    ],
    [
      'gives Gt one value',
      node({ key: 'a', operator: 'Gt', values: ['1', '2'] }),
      [`${TERM}.matchExpressions[0].values: must be one value`],
    ],
    [
      'asks for values that there can be',
      node({ key: 'a', operator: 'In', values: ['b c'] }),
      [`${TERM}.matchExpressions[0].values[0]: "b c" must be`],
    ],
    [
      'asks for no field of a node but its name',
      field({ key: 'spec.x', operator: 'In', values: ['n'] }),
      [`${TERM}.matchFields[0].key: "spec.x" must be one of`],
    ],
    [
      'asks for fields by two operators',
      field({ key: 'metadata.name', operator: 'Exists', values: ['n'] }),
      [`${TERM}.matchFields[0].operator: "Exists" must be one of`],
    ],
    [
      'asks for one name of a node',
      field({ key: 'metadata.name', operator: 'In', values: ['n', 'm'] }),
      [`${TERM}.matchFields[0].values: must be one value`],
    ],
    [
      'is near pods in places with keys that there can be',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a b' }] } } },
      ['affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "a b" must have'],
    ],
    [
      'prefers to be near pods by weights from 1 to 100',
      {
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'a' } }],
          },
        },
      },
      ['affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: 0 must be'],
    ],
    ['names its system', { os: {} }, ['os.name: is required']],
  ])('%s', (_rule, spec, problems) => {
    expectProblems(aPod(spec), 'spec.', problems);
  });

  it('has finalizers with names that there can be', () => {
    expectProblems(aPod({}, { finalizers: ['a b'] }), '', ['metadata.finalizers[0]: "a b" must have']);
  });
});

describe('a volume', () => {
  const items = (...list: readonly object[]): Volume => ({ configMap: { name: 'c', items: list } });
  const downward = (...list: readonly object[]): Volume => ({ downwardAPI: { items: list } });
  const projected = (...sources: readonly object[]): Volume => ({ projected: { sources } });
  const UID = { fieldRef: { fieldPath: 'metadata.uid' } };

  it.each<[rule: string, volume: Volume, problems: readonly string[]]>([
    ['has a name of DNS', { name: 'A', emptyDir: {} }, ['name: "A" must be']],
    ['has a path on the node', { hostPath: {} }, ['hostPath.path: is required']],
    [
      'has a mode of permissions only',
      { secret: { secretName: 's', defaultMode: 0o1000 } },
      ['secret.defaultMode: 512 must'],
    ],
    ['names its Secret', { secret: {} }, ['secret.secretName: is required']],
    ['names its ConfigMap', { configMap: {} }, ['configMap.name: is required']],
    ['names the key of each file', items({ path: 'a' }), ['configMap.items[0].key: is required']],
    [
      'names the key of each file of a Secret',
      { secret: { secretName: 's', items: [{ path: 'a' }] } },
      ['secret.items[0].key: is required'],
    ],
    [
      'has the files of the downward API within it',
      downward({ path: '../a', ...UID }),
      ['downwardAPI.items[0].path: "../a" must not contain', 'downwardAPI.items[0].path: must not begin'],
    ],
    [
      'tells resources of containers only, in the downward API too',
      downward({ path: 'a', resourceFieldRef: { containerName: 'main', resource: 'limits.pods' } }),
      ['downwardAPI.items[0].resourceFieldRef.resource: "limits.pods" must be'],
    ],
    [
      'has the token of an account within it',
      projected({ serviceAccountToken: { path: '../a' } }),
      [
        'projected.sources[0].serviceAccountToken: must not be given without',
        'projected.sources[0].serviceAccountToken.path: "../a" must not contain',
      ],
    ],
    ['names the path of each file', items({ key: 'a' }), ['configMap.items[0].path: is required']],
    ['has its files within it', items({ key: 'a', path: '/a' }), ['configMap.items[0].path: "/a" must be a relative']],
    [
      'has no file that begins with two dots',
      items({ key: 'a', path: '..a' }),
      ['configMap.items[0].path: must not begin'],
    ],
    [
      'has files with modes of permissions only',
      items({ key: 'a', path: 'a', mode: -1 }),
      ['configMap.items[0].mode: -1 must'],
    ],
    [
      'pulls its image by one of three policies',
      { image: { reference: 'a', pullPolicy: 'Own' } },
      ['image.pullPolicy: "Own"'],
    ],
    ['names its image', { image: {} }, ['image.reference: is required']],
    ['names the server of nfs', { nfs: { path: '/a' } }, ['nfs.server: is required']],
    ['names the path of nfs', { nfs: { server: 'a' } }, ['nfs.path: is required']],
    ['has an absolute path of nfs', { nfs: { server: 'a', path: 'b' } }, ['nfs.path: must be an absolute path']],
    ['names its claim', { persistentVolumeClaim: {} }, ['persistentVolumeClaim.claimName: is required']],
    ['names the driver of CSI', { csi: {} }, ['csi.driver: is required']],
    ['names the repository of git', { gitRepo: {} }, ['gitRepo.repository: is required']],
    [
      'has the folder of git within it',
      { gitRepo: { repository: 'a', directory: '../b' } },
      ['gitRepo.directory: "../b" must not contain'],
    ],
    [
      'tells something in each file of the downward API',
      downward({ path: 'a' }),
      ['downwardAPI.items[0]: must have a'],
    ],
    [
      'tells one thing in each file of the downward API',
      downward({ path: 'a', ...UID, resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } }),
      ['downwardAPI.items[0].resourceFieldRef: must not be given beside fieldRef'],
    ],
    [
      'names the container of a resource in the downward API',
      downward({ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }),
      ['downwardAPI.items[0].resourceFieldRef.containerName: is required'],
    ],
    [
      'tells no field that no file can tell',
      downward({ path: 'a', fieldRef: { fieldPath: 'status.podIP' } }),
      ['downwardAPI.items[0].fieldRef.fieldPath: "status.podIP" must be one of'],
    ],
    ['is made of something', projected({}), ['projected.sources[0]: must have a source']],
    [
      'is made of one thing per source',
      projected({ configMap: { name: 'c' }, secret: { name: 's' } }),
      ['projected.sources[0].secret: must not be given beside configMap'],
    ],
    [
      'names the Secret that it is made of',
      projected({ secret: {} }),
      ['projected.sources[0].secret.name: is required'],
    ],
    [
      'names the ConfigMap that it is made of',
      projected({ configMap: {} }),
      ['projected.sources[0].configMap.name: is required'],
    ],
    [
      'names the keys that it is made of',
      projected(
        { configMap: { name: 'c', items: [{ path: 'a' }] } },
        { secret: { name: 's', items: [{ path: 'a' }] } },
      ),
      ['projected.sources[0].configMap.items[0].key: is req', 'projected.sources[1].secret.items[0].key: is req'],
    ],
    [
      'names the fields that it is made of',
      projected({ downwardAPI: { items: [{ path: 'a' }] } }),
      ['projected.sources[0].downwardAPI.items[0]: must have a'],
    ],
    [
      'has a token of an account only, for ten minutes at least, and in a file',
      projected({ serviceAccountToken: { expirationSeconds: 599 } }),
      [
        'projected.sources[0].serviceAccountToken: must not be given without',
        'projected.sources[0].serviceAccountToken.expirationSeconds: 599 must',
        'projected.sources[0].serviceAccountToken.path: is required',
      ],
    ],
  ])('%s', (_rule, volume, problems) => {
    expectProblems(aPod({ volumes: [{ name: 'v', ...volume }] }), 'spec.volumes[0].', problems);
  });
});
