import { describe, expect, it } from 'vitest';
import { flagLayer, kubeletFlags } from '../../../src/cli/kubelet-flags.ts';
import { parseCommandLine } from '../../../src/cli/program.ts';
import { resolveConfig } from '../../../src/model/config/resolve-config.ts';

/** Each flag as somebody may write it, and the field of the configuration that it sets. */
const FLAGS: readonly (readonly [flag: string, field: string, value: unknown])[] = [
  ['--pod-manifest-path=/m', 'staticPodPath', '/m'],
  ['--container-runtime-endpoint=unix:///c', 'containerRuntimeEndpoint', 'unix:///c'],
  ['--image-service-endpoint=unix:///i', 'imageServiceEndpoint', 'unix:///i'],
  ['--manifest-url=http://a.test/', 'staticPodURL', 'http://a.test/'],
  ['--manifest-url-header=X-A:b', 'staticPodURLHeader', { 'X-A': ['b'] }],
  ['--http-check-frequency=5s', 'httpCheckFrequency', 5_000],
  ['--file-check-frequency=6s', 'fileCheckFrequency', 6_000],
  ['--sync-frequency=7s', 'syncFrequency', 7_000],
  ['--runtime-request-timeout=8s', 'runtimeRequestTimeout', 8_000],
  ['--healthz-bind-address=127.0.0.2', 'healthzBindAddress', '127.0.0.2'],
  ['--healthz-port=9', 'healthzPort', 9],
  ['--address=192.0.2.1', 'address', '192.0.2.1'],
  ['--port=10250', 'port', 10_250],
  ['--tls-cert-file=/c.crt', 'tlsCertFile', '/c.crt'],
  ['--tls-private-key-file=/c.key', 'tlsPrivateKeyFile', '/c.key'],
  ['--client-ca-file=/ca.crt', 'authentication', { x509: { clientCAFile: '/ca.crt' } }],
  ['--max-pods=11', 'maxPods', 11],
  ['--pod-max-pids=12', 'podPidsLimit', 12],
  ['--cgroup-driver=systemd', 'cgroupDriver', 'systemd'],
  ['--cgroup-root=/r', 'cgroupRoot', '/r'],
  ['--cgroups-per-qos=false', 'cgroupsPerQOS', false],
  ['--cpu-cfs-quota=false', 'cpuCFSQuota', false],
  ['--cpu-cfs-quota-period=50ms', 'cpuCFSQuotaPeriod', 50],
  ['--serialize-image-pulls', 'serializeImagePulls', true],
  ['--registry-qps=13', 'registryPullQPS', 13],
  ['--registry-burst=14', 'registryBurst', 14],
  ['--image-gc-high-threshold=90', 'imageGCHighThresholdPercent', 90],
  ['--image-gc-low-threshold=70', 'imageGCLowThresholdPercent', 70],
  ['--minimum-image-ttl-duration=9m', 'imageMinimumGCAge', 540_000],
  [
    '--register-with-taints=a=b:NoSchedule,c:NoExecute',
    'registerWithTaints',
    [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', value: '', effect: 'NoExecute' },
    ],
  ],
  ['--system-reserved=cpu=1,memory=1Gi', 'systemReserved', { cpu: '1', memory: '1Gi' }],
  ['--kube-reserved=pid=100', 'kubeReserved', { pid: '100' }],
  ['--enforce-node-allocatable=none', 'enforceNodeAllocatable', ['none']],
  ['--seccomp-default', 'seccompDefault', true],
  [
    '--allowed-unsafe-sysctls=kernel.msg*,net.core.somaxconn',
    'allowedUnsafeSysctls',
    ['kernel.msg*', 'net.core.somaxconn'],
  ],
  ['--container-log-max-size=5Mi', 'containerLogMaxSize', '5Mi'],
  ['--container-log-max-files=3', 'containerLogMaxFiles', 3],
  ['--resolv-conf=/r.conf', 'resolvConf', '/r.conf'],
  ['--cluster-dns=10.0.0.1,10.0.0.2', 'clusterDNS', ['10.0.0.1', '10.0.0.2']],
  ['--cluster-domain=c.test', 'clusterDomain', 'c.test'],
  ['--feature-gates=A=true', 'featureGates', { A: true }],
];

/** A certificate comes with its key. */
const TOGETHER: Readonly<Record<string, string>> = {
  '--tls-cert-file=/c.crt': '--tls-private-key-file=/k',
  '--tls-private-key-file=/c.key': '--tls-cert-file=/c',
};

describe("the kubelet's flags", () => {
  it.each(FLAGS)('%s sets %s', (flag, field, value) => {
    const command = parseCommandLine(['run', flag, ...(TOGETHER[flag] === undefined ? [] : [TOGETHER[flag]])]);
    if (command.kind !== 'run') throw new Error(JSON.stringify(command));
    const resolved = resolveConfig(command.options.flags);
    expect(resolved.kind === 'resolved' ? resolved.config : resolved.problems).toHaveProperty(field, value);
  });

  it('are all in this table', () => {
    const told = new Set(FLAGS.map(([flag]) => flag.split('=')[0]));
    expect(kubeletFlags().flatMap(({ option: { long } }) => (told.has(long ?? '') ? [] : [long]))).toEqual([]);
  });

  it('are blamed by their names', () => {
    for (const flag of kubeletFlags()) expect(flagLayer(flag, '').origin).toBe(flag.option.long);
  });
});
