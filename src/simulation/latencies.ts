import type { Latency } from './calls.ts';

/** How long calls take on a small machine with containerd 2, in milliseconds, apart from what they wait for. */
export const LATENCIES: Readonly<Record<string, Latency>> = {
  Version: [1, 3],
  Status: [1, 4],
  RuntimeConfig: [1, 3],
  RunPodSandbox: [220, 340],
  StopPodSandbox: [60, 140],
  RemovePodSandbox: [20, 60],
  PodSandboxStatus: [1, 4],
  ListPodSandbox: [1, 6],
  CreateContainer: [35, 80],
  StartContainer: [60, 110],
  StopContainer: [10, 40],
  RemoveContainer: [15, 50],
  ContainerStatus: [1, 4],
  ListContainers: [2, 8],
  UpdateContainerResources: [10, 30],
  ReopenContainerLog: [2, 6],
  ExecSync: [60, 120],
  PullImage: [800, 2_500],
  ImageStatus: [1, 4],
  ListImages: [1, 5],
  RemoveImage: [10, 40],
  ImageFsInfo: [1, 5],
  ListContainerStats: [2, 20],
  ListPodSandboxStats: [2, 20],
};

/** Of calls that have none of their own: those to the disk. */
export const OTHER_LATENCY: Latency = [0, 2];

/** All calls that can go wrong: those to the runtime, and those to the disk. */
export const CALL_NAMES: readonly string[] = [
  ...Object.keys(LATENCIES),
  'GetContainerEvents',
  ...['makeDir', 'writeFile', 'readFile', 'list', 'typeOf', 'link', 'readLink', 'removeFile', 'removeTree'].map(
    (name) => `files.${name}`,
  ),
  ...['below', 'mount', 'mountMemory', 'unmount', 'bindInside'].map((name) => `mounts.${name}`),
  ...['setMode', 'giveToGroup', 'writePayload', 'usage'].map((name) => `volumeFiles.${name}`),
];
