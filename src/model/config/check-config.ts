import type { ShapeProblem } from '../schema/check-shape.ts';
import type { FieldPath } from '../schema/field-path.ts';
import { manifestUrls, parseManifestUrl } from '../manifest/manifest-url.ts';
import { isEvictionThreshold } from '../eviction-threshold.ts';
import { parseQuantity } from '../quantity.ts';
import { LEAST_IDS } from '../user-namespace.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** Finds values of the right type that make no sense, by the kubelet's rules for the fields that rxlet uses. */
export function checkConfig(config: KubeletConfiguration): readonly ShapeProblem[] {
  return RULES.flatMap(({ path, holds, message }) => (holds(config) ? [] : [{ path, message }]));
}

interface Rule {
  readonly path: FieldPath;
  readonly holds: (config: KubeletConfiguration) => boolean;
  readonly message: string;
}

/** Tells an address from a name; whoever dials it finds out the rest. */
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:)[0-9a-f:.]+)$/i;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1)$/;
const UNIX_ADDRESS = /^unix:\/\/\/./;
const NOT_A_UNIX_ADDRESS = 'must be the address of a unix socket, for example unix:///run/containerd/containerd.sock';

/** RFC 9110. */
const HEADER_NAME = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What only the connection itself can say. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

const EFFECTS: ReadonlySet<string> = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute']);
const ENFORCED: ReadonlySet<string> = new Set(['pods', 'system-reserved', 'kube-reserved', 'none']);
const RESERVABLE: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'pid']);

const RULES: readonly Rule[] = [
  positive('fileCheckFrequency'),
  positive('httpCheckFrequency'),
  {
    path: ['staticPodURL'],
    holds: ({ staticPodURL }) => manifestUrls(staticPodURL).every((url) => parseManifestUrl(url) !== undefined),
    message: 'must hold http:// or https:// URLs, with blanks between them',
  },
  {
    path: ['staticPodURLHeader'],
    holds: ({ staticPodURLHeader }) =>
      Object.entries(staticPodURLHeader).every(
        ([name, values]) =>
          HEADER_NAME.test(name) &&
          !OWN_HEADERS.has(name.toLowerCase()) &&
          values.every((value) => HEADER_VALUE.test(value)),
      ),
    message: `must hold names of headers with their values, and none of ${[...OWN_HEADERS].join(', ')}`,
  },
  positive('syncFrequency'),
  positive('runtimeRequestTimeout'),
  {
    path: ['cgroupDriver'],
    holds: ({ cgroupDriver }) => ['cgroupfs', 'systemd'].includes(cgroupDriver),
    message: 'must be cgroupfs or systemd',
  },
  {
    path: ['cpuCFSQuotaPeriod'],
    holds: ({ cpuCFSQuotaPeriod }) => isWithin(cpuCFSQuotaPeriod, 1, 1_000),
    message: 'must be from 1ms to 1s',
  },
  {
    path: ['crashLoopBackOff', 'maxContainerRestartPeriod'],
    holds: ({ crashLoopBackOff }) => isWithin(crashLoopBackOff.maxContainerRestartPeriod, 1_000, 300_000),
    message: 'must be from 1s to 300s',
  },
  port('port'),
  port('healthzPort'),
  {
    path: ['address'],
    holds: ({ address }) => IP.test(address),
    message: 'must be an IP address',
  },
  {
    path: ['healthzBindAddress'],
    holds: ({ healthzBindAddress, healthzPort }) => healthzPort === 0 || LOOPBACK.test(healthzBindAddress),
    message: 'must be an address of this machine alone (127.0.0.1, ::1): nothing is served to others unauthenticated',
  },
  {
    path: ['tlsPrivateKeyFile'],
    holds: ({ tlsCertFile, tlsPrivateKeyFile }) => (tlsCertFile === '') === (tlsPrivateKeyFile === ''),
    message: 'must be given together with tlsCertFile',
  },
  { path: ['maxPods'], holds: ({ maxPods }) => maxPods > 0, message: 'must not be negative' },
  {
    path: ['userNamespaces', 'idsPerPod'],
    holds: ({ userNamespaces: { idsPerPod } }) =>
      Number.isInteger(idsPerPod) && idsPerPod > 0 && idsPerPod < 2 ** 32 && idsPerPod % LEAST_IDS === 0,
    message: 'must be a multiple of 65536 below 4294967296',
  },
  {
    path: ['podPidsLimit'],
    holds: ({ podPidsLimit }) => podPidsLimit >= -1,
    message: 'must be -1 (no limit), or the number of processes a pod may have',
  },
  {
    path: ['maxParallelImagePulls'],
    holds: ({ maxParallelImagePulls = 1 }) => maxParallelImagePulls >= 1,
    message: 'must be at least 1',
  },
  {
    path: ['maxParallelImagePulls'],
    holds: ({ maxParallelImagePulls = 1, serializeImagePulls }) =>
      serializeImagePulls !== true || maxParallelImagePulls < 2,
    message: 'must not be more than 1 while serializeImagePulls is true',
  },
  {
    path: ['registryPullQPS'],
    holds: ({ registryPullQPS }) => registryPullQPS >= 0,
    message: 'must not be negative',
  },
  {
    path: ['registryBurst'],
    holds: ({ registryBurst }) => registryBurst >= 0,
    message: 'must not be negative',
  },
  {
    path: ['imageGCHighThresholdPercent'],
    holds: ({ imageGCHighThresholdPercent }) => isWithin(imageGCHighThresholdPercent, 0, 100),
    message: 'must be from 0 to 100',
  },
  {
    path: ['imageGCLowThresholdPercent'],
    holds: ({ imageGCLowThresholdPercent }) => isWithin(imageGCLowThresholdPercent, 0, 100),
    message: 'must be from 0 to 100',
  },
  {
    path: ['imageGCLowThresholdPercent'],
    holds: ({ imageGCHighThresholdPercent, imageGCLowThresholdPercent }) =>
      imageGCLowThresholdPercent < imageGCHighThresholdPercent,
    message: 'must be less than imageGCHighThresholdPercent',
  },
  {
    path: ['imageMaximumGCAge'],
    holds: ({ imageMinimumGCAge, imageMaximumGCAge }) =>
      imageMaximumGCAge === 0 || imageMaximumGCAge > imageMinimumGCAge,
    message: 'must be longer than imageMinimumGCAge, or 0 to keep images however long they are unused',
  },
  {
    path: ['registerWithTaints'],
    holds: ({ registerWithTaints }) => registerWithTaints.every(({ key, effect }) => key !== '' && EFFECTS.has(effect)),
    message: 'must hold taints with a key and an effect: NoSchedule, PreferNoSchedule or NoExecute',
  },
  {
    path: ['evictionHard'],
    holds: ({ evictionHard }) => Object.values(evictionHard).every(isEvictionThreshold),
    message: 'must hold what is to be left by signal, for example memory.available: 100Mi or imagefs.available: 15%',
  },
  reservation('systemReserved'),
  reservation('kubeReserved'),
  {
    path: ['enforceNodeAllocatable'],
    holds: ({ enforceNodeAllocatable }) => enforceNodeAllocatable.every((key) => ENFORCED.has(key)),
    message: 'must hold pods, system-reserved, kube-reserved, or none',
  },
  {
    path: ['enforceNodeAllocatable'],
    holds: ({ enforceNodeAllocatable: keys }) => !keys.includes('none') || keys.length === 1,
    message: 'must not hold anything else beside none',
  },
  {
    path: ['systemReservedCgroup'],
    holds: ({ enforceNodeAllocatable: keys, systemReservedCgroup }) =>
      !keys.includes('system-reserved') || systemReservedCgroup !== '',
    message: 'must be given where enforceNodeAllocatable holds system-reserved',
  },
  {
    path: ['kubeReservedCgroup'],
    holds: ({ enforceNodeAllocatable: keys, kubeReservedCgroup }) =>
      !keys.includes('kube-reserved') || kubeReservedCgroup !== '',
    message: 'must be given where enforceNodeAllocatable holds kube-reserved',
  },
  {
    path: ['containerRuntimeEndpoint'],
    holds: ({ containerRuntimeEndpoint }) => UNIX_ADDRESS.test(containerRuntimeEndpoint),
    message: NOT_A_UNIX_ADDRESS,
  },
  {
    path: ['imageServiceEndpoint'],
    holds: ({ imageServiceEndpoint, containerRuntimeEndpoint }) =>
      imageServiceEndpoint === containerRuntimeEndpoint || UNIX_ADDRESS.test(imageServiceEndpoint),
    message: NOT_A_UNIX_ADDRESS,
  },
  {
    path: ['podLogsDir'],
    holds: ({ podLogsDir }) => podLogsDir.startsWith('/') && !podLogsDir.split('/').includes('..'),
    message: 'must be an absolute path without ".."',
  },
  {
    path: ['containerLogMaxSize'],
    holds: ({ containerLogMaxSize }) => (parseQuantity(containerLogMaxSize)?.nano ?? 0n) !== 0n,
    message: 'must be an amount of bytes, for example 10Mi, or negative for no rotation',
  },
  {
    path: ['containerLogMaxFiles'],
    holds: ({ containerLogMaxFiles }) => containerLogMaxFiles > 1,
    message: 'must be at least 2',
  },
  {
    path: ['containerLogMaxWorkers'],
    holds: ({ containerLogMaxWorkers }) => containerLogMaxWorkers >= 1,
    message: 'must be at least 1',
  },
  {
    path: ['containerLogMonitorInterval'],
    holds: ({ containerLogMonitorInterval }) => containerLogMonitorInterval >= 3_000,
    message: 'must be at least 3s',
  },
  {
    path: ['clusterDNS'],
    holds: ({ clusterDNS }) => clusterDNS.every((address) => IP.test(address)),
    message: 'must hold IP addresses',
  },
];

function reservation(field: 'systemReserved' | 'kubeReserved'): Rule {
  return {
    path: [field],
    holds: (config) =>
      Object.entries(config[field]).every(([name, text]) => {
        const quantity = parseQuantity(text);
        return RESERVABLE.has(name) && quantity !== undefined && quantity.nano >= 0n;
      }),
    message: 'must hold amounts of cpu, memory, ephemeral-storage or pid',
  };
}

function port(field: 'port' | 'healthzPort'): Rule {
  return { path: [field], holds: (config) => isWithin(config[field], 0, 65_535), message: 'must be from 0 to 65535' };
}

function positive(
  field: 'fileCheckFrequency' | 'httpCheckFrequency' | 'syncFrequency' | 'runtimeRequestTimeout',
): Rule {
  return { path: [field], holds: (config) => config[field] > 0, message: 'must be longer than 0s' };
}

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
