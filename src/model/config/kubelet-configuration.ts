/**
 * The part of `KubeletConfiguration` (kubelet.config.k8s.io/v1beta1) that rxlet uses, under the kubelet's names.
 * Durations are milliseconds. Other fields of the kubelet are accepted and named in a warning.
 */
export interface KubeletConfiguration {
  /** Folder or file with pod manifests; empty: none. */
  readonly staticPodPath: string;
  /** How often manifests are read again, as a safety net below the file watch. */
  readonly fileCheckFrequency: number;
  /** How often each pod is checked although nothing happened to it. */
  readonly syncFrequency: number;

  /** `unix://` address of the runtime. */
  readonly containerRuntimeEndpoint: string;
  /** `unix://` address of the image service: the runtime's own where nothing else was said. */
  readonly imageServiceEndpoint: string;
  /** Deadline of a call to the runtime, where the call has no other. */
  readonly runtimeRequestTimeout: number;
  readonly serializeImagePulls: boolean;
  /** Images pulled at the same time; `undefined`: 1 when pulls are serialized, else no limit. */
  readonly maxParallelImagePulls: number | undefined;

  /** Asked from the runtime first; this counts where the runtime does not say. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  /** Cgroup below which `kubepods` is made; empty: the root. */
  readonly cgroupRoot: string;
  readonly cgroupsPerQOS: boolean;
  /** Whether CPU limits become CFS quotas. */
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriod: number;
  /** Processes a pod may have; -1: no limit. */
  readonly podPidsLimit: number;

  readonly maxPods: number;
  readonly podLogsDir: string;
  /** The node's resolver file; empty: pods get none of its content. */
  readonly resolvConf: string;
  readonly clusterDNS: readonly string[];
  readonly clusterDomain: string;
  readonly crashLoopBackOff: {
    /** Longest wait before a crashing container starts again. */
    readonly maxContainerRestartPeriod: number;
  };
  readonly featureGates: Readonly<Record<string, boolean>>;
}

/** What the kubelet 1.36 takes where nothing is said (facts sheet 1.5). */
export const DEFAULT_KUBELET_CONFIGURATION: KubeletConfiguration = {
  staticPodPath: '',
  fileCheckFrequency: 20_000,
  syncFrequency: 60_000,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  imageServiceEndpoint: 'unix:///run/containerd/containerd.sock',
  runtimeRequestTimeout: 120_000,
  serializeImagePulls: true,
  maxParallelImagePulls: undefined,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: '',
  cgroupsPerQOS: true,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: 100,
  podPidsLimit: -1,
  maxPods: 110,
  podLogsDir: '/var/log/pods',
  resolvConf: '/etc/resolv.conf',
  clusterDNS: [],
  clusterDomain: '',
  crashLoopBackOff: { maxContainerRestartPeriod: 300_000 },
  featureGates: {},
};

/** Fields that are read and checked, and that nothing follows yet. */
const IDLE_FIELDS: ReadonlySet<string> = new Set([
  'maxPods',
  'podPidsLimit',
  'serializeImagePulls',
  'maxParallelImagePulls',
]);

/** Fields that change what rxlet does; every other field of the kubelet has no effect yet. */
export const USED_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(DEFAULT_KUBELET_CONFIGURATION).filter((field) => !IDLE_FIELDS.has(field)),
);
