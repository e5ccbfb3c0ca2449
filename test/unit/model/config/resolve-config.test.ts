import { describe, expect, it } from 'vitest';
import type { ConfigLayer } from '../../../../src/model/config/config-layer.ts';
import {
  DEFAULT_KUBELET_CONFIGURATION,
  type KubeletConfiguration,
} from '../../../../src/model/config/kubelet-configuration.ts';
import { resolveConfig } from '../../../../src/model/config/resolve-config.ts';
import { describeProblem } from '../../../../src/model/desired.ts';
import { readYaml } from '../../../../src/sources/yaml/read-yaml.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function file(origin: string, text: string): ConfigLayer {
  const document = readYaml(text).documents[0];
  if (!document) throw new Error(`${origin} holds no document`);
  return { kind: 'file', origin, value: document.value, locate: document.locate };
}

function flag(origin: string, value: unknown): ConfigLayer {
  return { kind: 'flag', origin, value, locate: () => undefined };
}

function configOf(...layers: readonly ConfigLayer[]): KubeletConfiguration {
  const resolved = resolveConfig(layers);
  if (resolved.kind === 'refused') throw new Error(resolved.problems.map(describeProblem).join('\n'));
  return resolved.config;
}

function warningsOf(...layers: readonly ConfigLayer[]): readonly string[] {
  const resolved = resolveConfig(layers);
  return resolved.kind === 'resolved' ? resolved.warnings : [];
}

function refusalsOf(...layers: readonly ConfigLayer[]): readonly string[] {
  const resolved = resolveConfig(layers);
  return resolved.kind === 'refused' ? resolved.problems.map(describeProblem) : [];
}

describe('resolveConfig', () => {
  it('gives the defaults of the kubelet where nobody says anything', () => {
    expect(resolveConfig([])).toEqual({ kind: 'resolved', config: DEFAULT_KUBELET_CONFIGURATION, warnings: [] });
  });

  it('reads every field it uses', () => {
    const config = configOf(
      file(
        'config.yaml',
        `${HEAD}
staticPodPath: /etc/pods
fileCheckFrequency: 5s
httpCheckFrequency: 7s
staticPodURL: https://a/pods http://b/
staticPodURLHeader: {X-Token: [a, b]}
syncFrequency: 1m30s
enableServer: false
address: 192.0.2.1
port: 10250
healthzBindAddress: "::1"
healthzPort: 0
tlsCertFile: /tls/a.crt
tlsPrivateKeyFile: /tls/a.key
authentication: {x509: {clientCAFile: /tls/ca.crt}}
containerRuntimeEndpoint: unix:///run/crio/crio.sock
imageServiceEndpoint: unix:///run/images.sock
runtimeRequestTimeout: 15m
serializeImagePulls: false
maxParallelImagePulls: 4
cgroupDriver: systemd
cgroupRoot: /gold
cgroupsPerQOS: false
cpuCFSQuota: false
cpuCFSQuotaPeriod: 50ms
podPidsLimit: 100
maxPods: 60
userNamespaces: {idsPerPod: 131072}
registryPullQPS: 0
registryBurst: 3
registerWithTaints: [{key: a, value: b, effect: NoExecute}]
systemReserved: {cpu: 500m}
kubeReserved: {memory: 1Gi}
enforceNodeAllocatable: [pods, kube-reserved]
kubeReservedCgroup: /kube
systemReservedCgroup: /system
evictionHard: {memory.available: 1Gi}
imageGCHighThresholdPercent: 70
imageGCLowThresholdPercent: 60
imageMinimumGCAge: 1m
imageMaximumGCAge: 72h
localStorageCapacityIsolation: false
seccompDefault: true
allowedUnsafeSysctls: [kernel.msg*]
singleProcessOOMKill: false
podLogsDir: /logs
containerLogMaxSize: 1Mi
containerLogMaxFiles: 3
containerLogMaxWorkers: 2
containerLogMonitorInterval: 3s
resolvConf: ""
clusterDNS: [10.96.0.10, "fd00::a"]
clusterDomain: cluster.test
crashLoopBackOff: {maxContainerRestartPeriod: 30s}
featureGates: {EventedPLEG: false}
`,
      ),
    );
    expect(config).toEqual({
      staticPodPath: '/etc/pods',
      fileCheckFrequency: 5_000,
      httpCheckFrequency: 7_000,
      staticPodURL: 'https://a/pods http://b/',
      staticPodURLHeader: { 'X-Token': ['a', 'b'] },
      syncFrequency: 90_000,
      enableServer: false,
      address: '192.0.2.1',
      port: 10_250,
      healthzBindAddress: '::1',
      healthzPort: 0,
      tlsCertFile: '/tls/a.crt',
      tlsPrivateKeyFile: '/tls/a.key',
      authentication: { x509: { clientCAFile: '/tls/ca.crt' } },
      containerRuntimeEndpoint: 'unix:///run/crio/crio.sock',
      imageServiceEndpoint: 'unix:///run/images.sock',
      runtimeRequestTimeout: 900_000,
      serializeImagePulls: false,
      maxParallelImagePulls: 4,
      cgroupDriver: 'systemd',
      cgroupRoot: '/gold',
      cgroupsPerQOS: false,
      cpuCFSQuota: false,
      cpuCFSQuotaPeriod: 50,
      podPidsLimit: 100,
      maxPods: 60,
      userNamespaces: { idsPerPod: 131_072 },
      registryPullQPS: 0,
      registryBurst: 3,
      registerWithTaints: [{ key: 'a', value: 'b', effect: 'NoExecute' }],
      systemReserved: { cpu: '500m' },
      kubeReserved: { memory: '1Gi' },
      enforceNodeAllocatable: ['pods', 'kube-reserved'],
      kubeReservedCgroup: '/kube',
      systemReservedCgroup: '/system',
      evictionHard: { 'memory.available': '1Gi' },
      imageGCHighThresholdPercent: 70,
      imageGCLowThresholdPercent: 60,
      imageMinimumGCAge: 60_000,
      imageMaximumGCAge: 259_200_000,
      localStorageCapacityIsolation: false,
      seccompDefault: true,
      allowedUnsafeSysctls: ['kernel.msg*'],
      singleProcessOOMKill: false,
      podLogsDir: '/logs',
      containerLogMaxSize: '1Mi',
      containerLogMaxFiles: 3,
      containerLogMaxWorkers: 2,
      containerLogMonitorInterval: 3_000,
      resolvConf: '',
      clusterDNS: ['10.96.0.10', 'fd00::a'],
      clusterDomain: 'cluster.test',
      crashLoopBackOff: { maxContainerRestartPeriod: 30_000 },
      featureGates: { EventedPLEG: false },
    });
  });

  it('lets drop-ins go over the file, in order, and flags over all', () => {
    const layers = [
      file('config.yaml', `${HEAD}maxPods: 1\npodPidsLimit: 1\nclusterDomain: one\ncgroupRoot: /one\n`),
      file('10.conf', `${HEAD}podPidsLimit: 2\nclusterDomain: two\ncgroupRoot: /two\n`),
      file('20.conf', `${HEAD}clusterDomain: three\ncgroupRoot: /three\n`),
      flag('--cgroup-root', { cgroupRoot: '/four' }),
    ];
    expect(configOf(...layers)).toMatchObject({
      maxPods: 1,
      podPidsLimit: 2,
      clusterDomain: 'three',
      cgroupRoot: '/four',
    });
  });

  it('merges feature gates gate by gate, from files and flags', () => {
    const config = configOf(
      file('config.yaml', `${HEAD}featureGates: {A: true, B: true, C: true}\n`),
      file('10.conf', `${HEAD}featureGates: {B: false}\n`),
      flag('--feature-gates', { featureGates: { C: false, D: true } }),
    );
    expect(config.featureGates).toEqual({ A: true, B: false, C: false, D: true });
  });

  it('returns to the default where a drop-in says null', () => {
    expect(configOf(file('a', `${HEAD}maxPods: 5\n`), file('b', `${HEAD}maxPods: null\n`)).maxPods).toBe(110);
  });

  it('takes zeros and empty strings as not said, as the kubelet does', () => {
    const config = configOf(
      file(
        'a',
        `${HEAD}syncFrequency: 0s\nmaxPods: 0\ncgroupDriver: ""\npodLogsDir: ""\ncontainerRuntimeEndpoint: ""\n`,
      ),
    );
    expect(config).toEqual(DEFAULT_KUBELET_CONFIGURATION);
  });

  it('asks the runtime for images too, unless another endpoint is given', () => {
    expect(configOf(flag('--f', { containerRuntimeEndpoint: '/run/crio.sock' }))).toMatchObject({
      containerRuntimeEndpoint: 'unix:///run/crio.sock',
      imageServiceEndpoint: 'unix:///run/crio.sock',
    });
  });

  it('pulls in parallel where only the number of parallel pulls is given', () => {
    expect(configOf(flag('--f', { maxParallelImagePulls: 2 })).serializeImagePulls).toBe(false);
    expect(configOf(flag('--f', { maxParallelImagePulls: 1 })).serializeImagePulls).toBe(true);
  });

  describe('refuses, with file, line, column and field,', () => {
    it.each([
      [
        'a number for a string',
        'cgroupRoot: 5',
        ['c.yaml:3:1: cgroupRoot: must be a string, not the number 5; put it in quotes'],
      ],
      [
        'a string for a boolean',
        'cpuCFSQuota: "true"',
        ['c.yaml:3:1: cpuCFSQuota: must be true or false, not the string "true"; take off the quotes'],
      ],
      [
        'a duration without a unit',
        'syncFrequency: 20',
        ['c.yaml:3:1: syncFrequency: must be a duration, for example "1m30s", not the number 20'],
      ],
      [
        'a fraction for a whole number',
        'maxPods: 1.5',
        ['c.yaml:3:1: maxPods: must be a whole number, not the number 1.5'],
      ],
      [
        'a string for a list',
        'clusterDNS: 10.0.0.1',
        ['c.yaml:3:1: clusterDNS: must be a list, not the string "10.0.0.1"'],
      ],
      ['a misspelt field', 'maxPod: 5', ['c.yaml:3:1: maxPod: unknown field, did you mean maxPods?']],
      [
        'a misspelt field further down',
        'crashLoopBackOff:\n  max: 5s',
        ['c.yaml:4:3: crashLoopBackOff.max: unknown field'],
      ],
      [
        'a gate that is no boolean',
        'featureGates: {A: 1}',
        ['c.yaml:3:16: featureGates.A: must be true or false, not the number 1'],
      ],
      [
        'a wrong type in a field that rxlet does not use',
        'port: x',
        ['c.yaml:3:1: port: must be a whole number, not the string "x"'],
      ],
      ['a negative frequency', 'fileCheckFrequency: -1s', ['c.yaml:3:1: fileCheckFrequency: must be longer than 0s']],
      [
        'a negative deadline',
        'runtimeRequestTimeout: -1s',
        ['c.yaml:3:1: runtimeRequestTimeout: must be longer than 0s'],
      ],
      ['an unknown cgroup driver', 'cgroupDriver: openrc', ['c.yaml:3:1: cgroupDriver: must be cgroupfs or systemd']],
      [
        'a quota period beyond a second',
        'cpuCFSQuotaPeriod: 2s',
        ['c.yaml:3:1: cpuCFSQuotaPeriod: must be from 1ms to 1s'],
      ],
      [
        'too long a back-off',
        'crashLoopBackOff:\n  maxContainerRestartPeriod: 301s',
        ['c.yaml:4:3: crashLoopBackOff.maxContainerRestartPeriod: must be from 1s to 300s'],
      ],
      [
        'an amount of ids that is no multiple of the least one',
        'userNamespaces:\n  idsPerPod: 1000',
        ['c.yaml:4:3: userNamespaces.idsPerPod: must be a multiple of 65536 below 4294967296'],
      ],
      [
        'too short a back-off',
        'crashLoopBackOff:\n  maxContainerRestartPeriod: 0s',
        ['c.yaml:4:3: crashLoopBackOff.maxContainerRestartPeriod: must be from 1s to 300s'],
      ],
      ['negative pods', 'maxPods: -1', ['c.yaml:3:1: maxPods: must not be negative']],
      [
        'a negative limit of processes',
        'podPidsLimit: -2',
        ['c.yaml:3:1: podPidsLimit: must be -1 (no limit), or the number of processes a pod may have'],
      ],
      [
        'no parallel pulls at all',
        'maxParallelImagePulls: 0',
        ['c.yaml:3:1: maxParallelImagePulls: must be at least 1'],
      ],
      [
        'parallel pulls that are serialized',
        'serializeImagePulls: true\nmaxParallelImagePulls: 2',
        ['c.yaml:4:1: maxParallelImagePulls: must not be more than 1 while serializeImagePulls is true'],
      ],
      [
        'a runtime on the network',
        'containerRuntimeEndpoint: tcp://1.2.3.4:5',
        [
          'c.yaml:3:1: containerRuntimeEndpoint: must be the address of a unix socket, for example unix:///run/containerd/containerd.sock',
        ],
      ],
      [
        'an image service on the network',
        'imageServiceEndpoint: tcp://1.2.3.4:5',
        [
          'c.yaml:3:1: imageServiceEndpoint: must be the address of a unix socket, for example unix:///run/containerd/containerd.sock',
        ],
      ],
      [
        'a containerLogMaxSize that makes no sense',
        'containerLogMaxSize: much',
        ['c.yaml:3:1: containerLogMaxSize: must be an amount of bytes, for example 10Mi, or negative for no rotation'],
      ],
      [
        'a containerLogMaxFiles that makes no sense',
        'containerLogMaxFiles: 1',
        ['c.yaml:3:1: containerLogMaxFiles: must be at least 2'],
      ],
      [
        'a containerLogMaxWorkers that makes no sense',
        'containerLogMaxWorkers: 0',
        ['c.yaml:3:1: containerLogMaxWorkers: must be at least 1'],
      ],
      [
        'a containerLogMonitorInterval that makes no sense',
        'containerLogMonitorInterval: 2s',
        ['c.yaml:3:1: containerLogMonitorInterval: must be at least 3s'],
      ],
      [
        'a log folder with a way out',
        'podLogsDir: /var/../etc',
        ['c.yaml:3:1: podLogsDir: must be an absolute path without ".."'],
      ],
      ['a name server by name', 'clusterDNS: [dns.test]', ['c.yaml:3:1: clusterDNS: must hold IP addresses']],
    ])('%s', (_name, text, expected) => {
      expect(refusalsOf(file('c.yaml', `${HEAD}${text}\n`))).toEqual(expected);
    });

    it('every mistake of every file at once', () => {
      expect(refusalsOf(file('a', `${HEAD}maxPods: x\nport: y\n`), file('b', `${HEAD}nothing: 1\n`))).toHaveLength(3);
    });
  });

  it('blames a value on the layer that had the last word', () => {
    const fine = file('config.yaml', `${HEAD}cgroupDriver: systemd\n`);
    expect(refusalsOf(fine, file('10.conf', `${HEAD}cgroupDriver: none\n`))).toEqual([
      '10.conf:3:1: cgroupDriver: must be cgroupfs or systemd',
    ]);
    expect(refusalsOf(fine, flag('--cgroup-driver', { cgroupDriver: 'none' }))).toEqual([
      '--cgroup-driver: cgroupDriver: must be cgroupfs or systemd',
    ]);
  });

  it.each([
    [
      'no apiVersion',
      'kind: KubeletConfiguration\nmaxPods: 5\n',
      ['c:1:1: apiVersion: must be kubelet.config.k8s.io/v1beta1'],
    ],
    [
      'another version',
      'apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n',
      ['c:1:1: apiVersion: must be kubelet.config.k8s.io/v1beta1, not "kubelet.config.k8s.io/v1"'],
    ],
    [
      'another kind',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: Pod\nspec: {}\n',
      ['c:2:1: kind: must be KubeletConfiguration, not "Pod"'],
    ],
    ['a list', '[1]', ['c:1:1: must hold one KubeletConfiguration (apiVersion: kubelet.config.k8s.io/v1beta1)']],
  ])('refuses a file with %s, and says no more about it', (_name, text, expected) => {
    expect(refusalsOf(file('c', text))).toEqual(expected);
  });

  it('warns once per file of fields that have no effect yet', () => {
    expect(
      warningsOf(
        file(
          'a.yaml',
          `${HEAD}registerNode: false\nmaxPods: 5\nreadOnlyPort: 10255\nauthentication: {anonymous: {enabled: true}, x509: {}}\n`,
        ),
        file('b.conf', `${HEAD}logging: {format: json, flushFrequency: 5s}\n`),
      ),
    ).toEqual([
      'a.yaml: valid for the kubelet, without effect in rxlet yet: authentication.anonymous, readOnlyPort, registerNode',
      'b.conf: valid for the kubelet, without effect in rxlet yet: logging',
    ]);
  });

  it('serves nothing unauthenticated to other machines', () => {
    expect(refusalsOf(flag('--healthz-bind-address', { healthzBindAddress: '0.0.0.0' }))).toEqual([
      '--healthz-bind-address: healthzBindAddress: must be an address of this machine alone (127.0.0.1, ::1): nothing is served to others unauthenticated',
    ]);
    expect(refusalsOf(file('c', `${HEAD}healthzBindAddress: "::1"\nport: 10250\n`))).toEqual([]);
  });

  it.each([
    ['port: 70000\n', 'port: must be from 0 to 65535'],
    ['healthzPort: -1\n', 'healthzPort: must be from 0 to 65535'],
    ['address: example.com\n', 'address: must be an IP address'],
    ['tlsPrivateKeyFile: /a.key\n', 'tlsPrivateKeyFile: must be given together with tlsCertFile'],
  ])('refuses a server with %j', (text, expected) => {
    expect(refusalsOf(file('c', `${HEAD}${text}`)).map((line) => line.replace(/^c:\d+:\d+: /, ''))).toEqual([expected]);
  });

  it.each([
    ['imageGCHighThresholdPercent: 101\n', 'imageGCHighThresholdPercent: must be from 0 to 100'],
    ['imageGCLowThresholdPercent: 85\n', 'imageGCLowThresholdPercent: must be less than imageGCHighThresholdPercent'],
    [
      'imageMaximumGCAge: 1m\n',
      'imageMaximumGCAge: must be longer than imageMinimumGCAge, or 0 to keep images however long they are unused',
    ],
    [
      'evictionHard: {imagefs.available: 15 percent}\n',
      'evictionHard: must hold what is to be left by signal, for example memory.available: 100Mi or imagefs.available: 15%',
    ],
  ])('refuses to remove images by %j', (text, expected) => {
    expect(refusalsOf(file('c', `${HEAD}${text}`)).map((line) => line.replace(/^c:\d+:\d+: /, ''))).toEqual([expected]);
  });

  it('warns of feature gates that change nothing, unless they are set to what they are', () => {
    expect(
      warningsOf(
        flag('--feature-gates', { featureGates: { NoSuch: true, EventedPLEG: true, SidecarContainers: true } }),
      ),
    ).toEqual([
      'feature gates that rxlet does not know are ignored: NoSuch=true',
      'feature gates that rxlet does not follow yet are ignored: EventedPLEG=true',
    ]);
  });

  it("accepts the kubelet's richer fields in their right shape", () => {
    const layer = file(
      'c.yaml',
      `${HEAD}
authentication: {anonymous: {enabled: false}, webhook: {enabled: true, cacheTTL: 2m}, x509: {clientCAFile: /ca.crt}}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 5m, cacheUnauthorizedTTL: 30s}}
staticPodURLHeader: {X-Token: [a, b]}
evictionHard: {memory.available: 100Mi, nodefs.available: "10%"}
reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]
registerWithTaints: [{key: a, value: b, effect: NoSchedule}]
shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]
memorySwap: {swapBehavior: LimitedSwap}
tracing: {endpoint: "localhost:4317", samplingRatePerMillion: 100}
userNamespaces: {idsPerPod: 65536}
memoryThrottlingFactor: 0.8
logging: {options: {json: {infoBufferSize: "0", splitStream: true}}, vmodule: [{filePattern: a, verbosity: 3}]}
`,
    );
    expect(refusalsOf(layer)).toEqual([]);
  });
});
