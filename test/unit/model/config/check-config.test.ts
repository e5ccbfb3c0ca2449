import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../../../src/model/config/check-config.ts';
import {
  DEFAULT_KUBELET_CONFIGURATION,
  type KubeletConfiguration,
} from '../../../../src/model/config/kubelet-configuration.ts';
import { formatFieldPath } from '../../../../src/model/schema/field-path.ts';

type Given = Partial<KubeletConfiguration>;

function refusedFields(given: Given): readonly string[] {
  return checkConfig({ ...DEFAULT_KUBELET_CONFIGURATION, ...given }).map(({ path }) => formatFieldPath(path));
}

const ids = (idsPerPod: number): Given => ({ userNamespaces: { idsPerPod } });
const restarts = (maxContainerRestartPeriod: number): Given => ({ crashLoopBackOff: { maxContainerRestartPeriod } });
const taint = (key: string, effect: string): Given => ({ registerWithTaints: [{ key, value: '', effect }] });

/** The rule, the last value that it allows, the first that it does not, and the field that is named then. */
const RULES: readonly (readonly [string, Given, Given, string])[] = [
  ['looks at files take their time', { fileCheckFrequency: 1 }, { fileCheckFrequency: 0 }, 'fileCheckFrequency'],
  ['looks at URLs take their time', { httpCheckFrequency: 1 }, { httpCheckFrequency: 0 }, 'httpCheckFrequency'],
  ['resyncs take their time', { syncFrequency: 1 }, { syncFrequency: 0 }, 'syncFrequency'],
  ['calls get some time', { runtimeRequestTimeout: 1 }, { runtimeRequestTimeout: 0 }, 'runtimeRequestTimeout'],
  ['manifests come over http or https', { staticPodURL: 'https://a/' }, { staticPodURL: 'ftp://a/' }, 'staticPodURL'],
  [
    'headers have names',
    { staticPodURLHeader: { 'X-A': ['b'] } },
    { staticPodURLHeader: { 'X A': ['b'] } },
    'staticPodURLHeader',
  ],
  [
    'headers have printable values',
    { staticPodURLHeader: { 'X-A': ['b'] } },
    { staticPodURLHeader: { 'X-A': ['b\n'] } },
    'staticPodURLHeader',
  ],
  [
    'the headers of a connection are its own',
    { staticPodURLHeader: { 'X-Upgrade': ['b'] } },
    { staticPodURLHeader: { Upgrade: ['b'] } },
    'staticPodURLHeader',
  ],
  [
    'there are two drivers of cgroups',
    { cgroupDriver: 'systemd' },
    { cgroupDriver: 'other' as 'systemd' },
    'cgroupDriver',
  ],
  ['a quota period has a millisecond', { cpuCFSQuotaPeriod: 1 }, { cpuCFSQuotaPeriod: 0.5 }, 'cpuCFSQuotaPeriod'],
  [
    'a quota period has a second at most',
    { cpuCFSQuotaPeriod: 1_000 },
    { cpuCFSQuotaPeriod: 1_001 },
    'cpuCFSQuotaPeriod',
  ],
  [
    'maxContainerRestartPeriod is a second at least',
    restarts(1_000),
    restarts(999),
    'crashLoopBackOff.maxContainerRestartPeriod',
  ],
  [
    'maxContainerRestartPeriod is five minutes at most',
    restarts(300_000),
    restarts(300_001),
    'crashLoopBackOff.maxContainerRestartPeriod',
  ],
  ['ports end at 65535', { port: 65_535 }, { port: 65_536 }, 'port'],
  ['ports begin at 0, which is none', { healthzPort: 0 }, { healthzPort: -1 }, 'healthzPort'],
  ['the server listens on an address', { address: '::' }, { address: 'here' }, 'address'],
  ['health is told to this machine', { healthzBindAddress: '::1' }, { healthzBindAddress: '::' }, 'healthzBindAddress'],
  [
    'a certificate has a key',
    { tlsCertFile: '/a', tlsPrivateKeyFile: '/b' },
    { tlsCertFile: '/a', tlsPrivateKeyFile: '' },
    'tlsPrivateKeyFile',
  ],
  ['a node may have a pod', { maxPods: 1 }, { maxPods: 0 }, 'maxPods'],
  ['a pod has 65536 ids', ids(65_536), ids(65_535), 'userNamespaces.idsPerPod'],
  ['a pod has not all ids there are', ids(2 ** 32 - 65_536), ids(2 ** 32), 'userNamespaces.idsPerPod'],
  ['no limit of processes is -1', { podPidsLimit: -1 }, { podPidsLimit: -2 }, 'podPidsLimit'],
  [
    'one image is pulled at a time',
    { maxParallelImagePulls: 1 },
    { maxParallelImagePulls: 0 },
    'maxParallelImagePulls',
  ],
  [
    'several images are pulled at once only where that is not forbidden',
    { maxParallelImagePulls: 2, serializeImagePulls: false },
    { maxParallelImagePulls: 2, serializeImagePulls: true },
    'maxParallelImagePulls',
  ],
  ['0 pulls a second is no limit', { registryPullQPS: 0 }, { registryPullQPS: -1 }, 'registryPullQPS'],
  ['a burst of pulls may be 0', { registryBurst: 0 }, { registryBurst: -1 }, 'registryBurst'],
  [
    'a disk is full at 100 percent',
    { imageGCHighThresholdPercent: 100 },
    { imageGCHighThresholdPercent: 101 },
    'imageGCHighThresholdPercent',
  ],
  [
    'a disk is empty at 0 percent',
    { imageGCLowThresholdPercent: 0 },
    { imageGCLowThresholdPercent: -1 },
    'imageGCLowThresholdPercent',
  ],
  [
    'images are removed down to less than where that begins',
    { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 49 },
    { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 },
    'imageGCLowThresholdPercent',
  ],
  [
    'images grow older than the age that spares them',
    { imageMinimumGCAge: 10, imageMaximumGCAge: 11 },
    { imageMinimumGCAge: 10, imageMaximumGCAge: 10 },
    'imageMaximumGCAge',
  ],
  ['a taint has a key', taint('a', 'NoSchedule'), taint('', 'NoSchedule'), 'registerWithTaints'],
  ['a taint has one of three effects', taint('a', 'NoExecute'), taint('a', 'Evict'), 'registerWithTaints'],
  [
    'what is to be left is an amount or a share',
    { evictionHard: { 'memory.available': '5%' } },
    { evictionHard: { 'memory.available': 'a bit' } },
    'evictionHard',
  ],
  ['four resources are reserved', { systemReserved: { pid: '9' } }, { systemReserved: { gpu: '1' } }, 'systemReserved'],
  ['what is reserved is an amount', { kubeReserved: { cpu: '0' } }, { kubeReserved: { cpu: '-1' } }, 'kubeReserved'],
  [
    'what is enforced has a name',
    { enforceNodeAllocatable: ['pods'] },
    { enforceNodeAllocatable: ['podz'] },
    'enforceNodeAllocatable',
  ],
  [
    'nothing is enforced beside none',
    { enforceNodeAllocatable: ['none'] },
    { enforceNodeAllocatable: ['none', 'pods'] },
    'enforceNodeAllocatable',
  ],
  [
    'what is enforced for the system has a cgroup',
    { enforceNodeAllocatable: ['system-reserved'], systemReservedCgroup: '/a' },
    { enforceNodeAllocatable: ['system-reserved'], systemReservedCgroup: '' },
    'systemReservedCgroup',
  ],
  [
    'what is enforced for the agent has a cgroup',
    { enforceNodeAllocatable: ['kube-reserved'], kubeReservedCgroup: '/a' },
    { enforceNodeAllocatable: ['kube-reserved'], kubeReservedCgroup: '' },
    'kubeReservedCgroup',
  ],
  [
    'a runtime is behind a unix socket',
    { containerRuntimeEndpoint: 'unix:///a', imageServiceEndpoint: 'unix:///a' },
    { containerRuntimeEndpoint: 'tcp://a', imageServiceEndpoint: 'unix:///a' },
    'containerRuntimeEndpoint',
  ],
  [
    'images come from a unix socket',
    { imageServiceEndpoint: 'unix:///a' },
    { imageServiceEndpoint: 'tcp://a' },
    'imageServiceEndpoint',
  ],
  ['logs have an absolute folder', { podLogsDir: '/a' }, { podLogsDir: 'a' }, 'podLogsDir'],
  ['the folder of logs leads nowhere else', { podLogsDir: '/a/..b' }, { podLogsDir: '/a/../b' }, 'podLogsDir'],
  ['a log has a largest size', { containerLogMaxSize: '-1' }, { containerLogMaxSize: '0' }, 'containerLogMaxSize'],
  [
    'a log and what it was are two files',
    { containerLogMaxFiles: 2 },
    { containerLogMaxFiles: 1 },
    'containerLogMaxFiles',
  ],
  [
    'one log is rotated at a time',
    { containerLogMaxWorkers: 1 },
    { containerLogMaxWorkers: 0 },
    'containerLogMaxWorkers',
  ],
  [
    'logs are looked at every three seconds at most',
    { containerLogMonitorInterval: 3_000 },
    { containerLogMonitorInterval: 2_999 },
    'containerLogMonitorInterval',
  ],
  ['name servers have addresses', { clusterDNS: ['10.0.0.10'] }, { clusterDNS: ['dns'] }, 'clusterDNS'],
];

describe('checkConfig', () => {
  it.each(RULES)('%s', (_rule, allowed, refused, field) => {
    expect(refusedFields(allowed)).toEqual([]);
    expect(refusedFields(refused)).toEqual([field]);
  });
});
