import type { Taint } from '../admission/admission-node.ts';
import { LEAST_IDS } from '../user-namespace.ts';

/**
 * The part of `KubeletConfiguration` (kubelet.config.k8s.io/v1beta1) that rxlet uses, under the kubelet's names.
 * Durations are milliseconds. Other fields of the kubelet are accepted and named in a warning.
 */
export interface KubeletConfiguration {
  /** Folder or file with pod manifests; empty: none. */
  readonly staticPodPath: string;
  /** URLs of manifests, with blanks between them (the kubelet: one); empty: none. */
  readonly staticPodURL: string;
  /** What is said in the headers of every request for manifests. */
  readonly staticPodURLHeader: Readonly<Record<string, readonly string[]>>;
  /** How long after an answer the URLs are asked again. */
  readonly httpCheckFrequency: number;
  /** How often manifests are read again, as a safety net below the file watch. */
  readonly fileCheckFrequency: number;
  /** How often each pod is checked although nothing happened to it. */
  readonly syncFrequency: number;

  /** Whether there is a server on `port` at all. */
  readonly enableServer: boolean;
  /** Where the API is served over TLS, to clients with a certificate; port 0: nowhere (the kubelet: 10250). */
  readonly address: string;
  readonly port: number;
  /** Where anybody on this machine may ask for `/healthz`; port 0: nowhere. */
  readonly healthzBindAddress: string;
  readonly healthzPort: number;
  /** PEM files of the server; empty: rxlet makes its own. */
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly authentication: {
    /** PEM file of who signs the clients; empty: an authority that rxlet makes. */
    readonly x509: { readonly clientCAFile: string };
  };

  /** `unix://` address of the runtime. */
  readonly containerRuntimeEndpoint: string;
  /** `unix://` address of the image service: the runtime's own where nothing else was said. */
  readonly imageServiceEndpoint: string;
  /** Deadline of a call to the runtime, where the call has no other. */
  readonly runtimeRequestTimeout: number;
  /** Whether images are pulled one after another; `undefined`: a few at the same time (the kubelet: one after another). */
  readonly serializeImagePulls: boolean | undefined;
  /** Images pulled at the same time; `undefined`: no limit of its own. */
  readonly maxParallelImagePulls: number | undefined;
  /** Pulls that may begin per second, on the average; 0: no limit. */
  readonly registryPullQPS: number;
  /** Pulls that may begin at once after a quiet time. */
  readonly registryBurst: number;

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
  readonly userNamespaces: {
    /** Ids of the node that each pod in a user namespace of its own gets; a multiple of 65536. */
    readonly idsPerPod: number;
  };
  readonly registerWithTaints: readonly Taint[];
  /** What is kept from pods, as `cpu: 500m`, `memory: 1Gi`, `pid: "1000"`. */
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly kubeReserved: Readonly<Record<string, string>>;
  /** `pods`, `system-reserved`, `kube-reserved`: whose cgroups get what is set aside as a limit. */
  readonly enforceNodeAllocatable: readonly string[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  /** Signals and the least that is to be left: taken off from what pods may ask for, and of disk made by removing images. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** How full the disk with the images may be, in percent, and down to which it is emptied; 100: no image is removed for room. */
  readonly imageGCHighThresholdPercent: number;
  readonly imageGCLowThresholdPercent: number;
  /** How long an image stays at least, and how long unused at most; 0: for ever. */
  readonly imageMinimumGCAge: number;
  readonly imageMaximumGCAge: number;
  /** Whether pods are held to the disk that they may take. */
  readonly localStorageCapacityIsolation: boolean;
  /** Whether containers without a seccomp profile get the runtime's own. */
  readonly seccompDefault: boolean;
  /** Sysctls beyond the safe ones that pods may set; a `*` at the end stands for anything. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** Whether only the process that took too much memory dies, not its container; `undefined`: as cgroup v1 can no other way. */
  readonly singleProcessOOMKill: boolean | undefined;
  readonly podLogsDir: string;
  /** Amount from which on a container's log is rotated; a negative one turns rotation off. */
  readonly containerLogMaxSize: string;
  /** Files that a container may have of its log, over all of its instances. */
  readonly containerLogMaxFiles: number;
  /** Rotated logs that are compressed at the same time. */
  readonly containerLogMaxWorkers: number;
  /** How often the log folder of a container is looked through; logs that grow are looked at more often. */
  readonly containerLogMonitorInterval: number;
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
  staticPodURL: '',
  staticPodURLHeader: {},
  httpCheckFrequency: 20_000,
  fileCheckFrequency: 20_000,
  syncFrequency: 60_000,
  enableServer: true,
  address: '0.0.0.0',
  port: 0,
  healthzBindAddress: '127.0.0.1',
  healthzPort: 10_248,
  tlsCertFile: '',
  tlsPrivateKeyFile: '',
  authentication: { x509: { clientCAFile: '' } },
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  imageServiceEndpoint: 'unix:///run/containerd/containerd.sock',
  runtimeRequestTimeout: 120_000,
  serializeImagePulls: undefined,
  maxParallelImagePulls: undefined,
  registryPullQPS: 5,
  registryBurst: 10,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: '',
  cgroupsPerQOS: true,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: 100,
  podPidsLimit: -1,
  maxPods: 110,
  userNamespaces: { idsPerPod: LEAST_IDS },
  registerWithTaints: [],
  systemReserved: {},
  kubeReserved: {},
  enforceNodeAllocatable: ['pods'],
  systemReservedCgroup: '',
  kubeReservedCgroup: '',
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  },
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMinimumGCAge: 120_000,
  imageMaximumGCAge: 0,
  localStorageCapacityIsolation: true,
  seccompDefault: false,
  allowedUnsafeSysctls: [],
  singleProcessOOMKill: undefined,
  podLogsDir: '/var/log/pods',
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMaxWorkers: 1,
  containerLogMonitorInterval: 10_000,
  resolvConf: '/etc/resolv.conf',
  clusterDNS: [],
  clusterDomain: '',
  crashLoopBackOff: { maxContainerRestartPeriod: 300_000 },
  featureGates: {},
};

/** Fields that change what rxlet does; every other field of the kubelet has no effect yet. */
export const USED_FIELDS: ReadonlySet<string> = new Set(Object.keys(DEFAULT_KUBELET_CONFIGURATION));
