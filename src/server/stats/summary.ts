import type { CpuUsage, FilesystemUsage, MemoryUsage, NetworkUsage, PsiStats, SwapUsage } from '../../model/cri/api.ts';
import { rfc3339 } from '../../model/rfc3339.ts';
import type { CpuAndMemory, DiskUsage, InterfaceUsage, MachineUsage } from '../../streams/ports/node-usage.ts';
import type { Collected, CollectedContainer, CollectedPod } from './collect.ts';
import type { CollectedVolume, CollectedVolumes } from './collect-volumes.ts';
import type { CpuRates } from './cpu-rates.ts';

export interface SummaryOptions {
  readonly nodeName: string;
  /** `?only_cpu_and_memory=true`. */
  readonly onlyCpuAndMemory: boolean;
  readonly rates: CpuRates;
  /** Those that were looked at; not needed for CPU and memory only. */
  readonly volumes?: CollectedVolumes;
  /** Of the agent itself. */
  readonly self: CpuAndMemory & { readonly startedAt: number };
}

/**
 * What `/stats/summary` tells: the kubelet's stats/v1alpha1 (facts sheet 25.5). What is not known is left out; times
 * are those of the look, to the second.
 */
export function summaryOf(collected: Collected, options: SummaryOptions): unknown {
  const { at, machine, pods, disk, podsCgroup } = collected;
  const { nodeName, onlyCpuAndMemory, rates, self } = options;
  const time = rfc3339(at);
  const own = { name: 'kubelet', startTime: rfc3339(self.startedAt), ...used(`system/kubelet`, self, at, rates) };
  const ofPods = podsCgroup
    ? [{ name: 'pods', startTime: rfc3339(machine.bootedAt), ...used('system/pods', podsCgroup, at, rates) }]
    : [];
  const node = used('node', machine, at, rates);
  return {
    node: {
      nodeName,
      systemContainers: [own, ...ofPods],
      startTime: rfc3339(machine.bootedAt),
      cpu: node.cpu,
      memory: { ...node.memory, availableBytes: machine.memoryAvailable },
      ...(onlyCpuAndMemory
        ? {}
        : {
            network: networkOfNode(machine, time),
            ...(disk ? { fs: filesystem(disk, time) } : {}),
            runtime: runtimeDisks(collected, time),
            rlimit: { time, maxpid: machine.processes.most, curproc: machine.processes.current },
          }),
      swap: { time, swapAvailableBytes: machine.swap.available, swapUsageBytes: machine.swap.used },
    },
    pods: pods.map((pod) => summaryOfPod(pod, collected, options)),
  };
}

function summaryOfPod(collectedPod: CollectedPod, collected: Collected, options: SummaryOptions): unknown {
  const { pod, startedAt, containers, sandbox, cgroup } = collectedPod;
  const { at, disk } = collected;
  const { onlyCpuAndMemory, rates } = options;
  const { name, namespace, uid } = pod.metadata;
  const volumes = options.volumes?.get(uid) ?? [];
  const ephemeral = volumes.filter(({ isEphemeral }) => isEphemeral);
  const time = rfc3339(at);
  const linux = sandbox?.linux;
  const whole = cgroup ? used(`pod/${uid}`, cgroup, at, rates) : undefined;
  const cpu = linux?.cpu
    ? cpuOf(`pod/${uid}`, linux.cpu, at, rates)
    : (whole?.cpu ?? sumOfCpu(collectedPod, collected));
  const memory = linux?.memory ? memoryOf(linux.memory, at) : whole?.memory;
  const processes = linux?.process?.processCount?.value ?? cgroup?.processes;
  return {
    podRef: { name, namespace, uid },
    startTime: rfc3339(startedAt / NANOSECONDS),
    containers: containers.map((container) => summaryOfContainer(container, collected, options)),
    ...(cpu ? { cpu } : {}),
    ...(memory ? { memory } : {}),
    ...(linux?.io?.psi ? { io: { time, psi: pressure(linux.io.psi) } } : {}),
    ...(onlyCpuAndMemory || !linux?.network ? {} : { network: networkOfPod(linux.network, at) }),
    ...(onlyCpuAndMemory || volumes.length === 0
      ? {}
      : { volume: volumes.map((volume) => summaryOfVolume(volume, namespace, time)) }),
    ...(onlyCpuAndMemory
      ? {}
      : {
          'ephemeral-storage': {
            ...(disk ? filesystem(disk, time) : { time }),
            usedBytes: sum([
              ...containers.map(({ stats, logs }) => logs + (stats.writableLayer?.usedBytes?.value ?? 0)),
              ...ephemeral.map(({ used: its }) => its?.bytes ?? 0),
            ]),
            inodesUsed: sum([
              ...containers.map(({ stats }) => stats.writableLayer?.inodesUsed?.value ?? 0),
              ...ephemeral.map(({ used: its }) => its?.inodes ?? 0),
            ]),
          },
        }),
    ...(onlyCpuAndMemory || processes === undefined ? {} : { process_stats: { process_count: processes } }),
    ...(cgroup?.swap === undefined ? {} : { swap: { time, swapUsageBytes: cgroup.swap } }),
  };
}

function summaryOfVolume({ name, claim, disk, used: its }: CollectedVolume, namespace: string, time: string): unknown {
  return {
    time,
    availableBytes: disk.available,
    capacityBytes: disk.capacity,
    inodesFree: disk.inodesFree,
    inodes: disk.inodes,
    ...(its ? { usedBytes: its.bytes, inodesUsed: its.inodes } : {}),
    name,
    ...(claim === undefined ? {} : { pvcRef: { name: claim, namespace } }),
  };
}

function summaryOfContainer(
  { name, id, stats, startedAt, logs }: CollectedContainer,
  { at, disk, disks }: Collected,
  { onlyCpuAndMemory, rates }: SummaryOptions,
): unknown {
  const time = rfc3339(at);
  const { cpu, memory, swap, io, writableLayer } = stats;
  return {
    name,
    ...(startedAt === undefined ? {} : { startTime: rfc3339(startedAt / NANOSECONDS) }),
    ...(cpu ? { cpu: cpuOf(`container/${id}`, cpu, at, rates) } : {}),
    ...(memory ? { memory: memoryOf(memory, at) } : {}),
    ...(io?.psi ? { io: { time, psi: pressure(io.psi) } } : {}),
    ...(onlyCpuAndMemory
      ? {}
      : {
          rootfs: written(writableLayer, disks, time),
          logs: { ...(disk ? filesystem(disk, time) : { time }), usedBytes: logs },
        }),
    ...(swap ? { swap: swapOf(swap, at) } : {}),
  };
}

const NANOSECONDS = 1_000_000;

function timeOf(timestamp: number | undefined, at: number): string {
  return rfc3339(timestamp ? timestamp / NANOSECONDS : at);
}

function cpuOf(
  key: string,
  { timestamp, usageCoreNanoSeconds, usageNanoCores, psi }: CpuUsage,
  at: number,
  rates: CpuRates,
): unknown {
  const total = usageCoreNanoSeconds?.value ?? 0;
  const told = usageNanoCores?.value;
  const rate = told !== undefined && told > 0 ? told : rates(key, total, timestamp ? timestamp / NANOSECONDS : at);
  return {
    time: timeOf(timestamp, at),
    ...(rate === undefined ? {} : { usageNanoCores: rate }),
    usageCoreNanoSeconds: total,
    ...(psi ? { psi: pressure(psi) } : {}),
  };
}

function memoryOf(memory: MemoryUsage, at: number): unknown {
  const { timestamp, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults, psi } = memory;
  const values = { availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
  return {
    time: timeOf(timestamp, at),
    ...Object.fromEntries(Object.entries(values).flatMap(([name, boxed]) => (boxed ? [[name, boxed.value ?? 0]] : []))),
    ...(psi ? { psi: pressure(psi) } : {}),
  };
}

function swapOf({ timestamp, swapAvailableBytes, swapUsageBytes }: SwapUsage, at: number): unknown {
  return {
    time: timeOf(timestamp, at),
    ...(swapAvailableBytes ? { swapAvailableBytes: swapAvailableBytes.value ?? 0 } : {}),
    swapUsageBytes: swapUsageBytes?.value ?? 0,
  };
}

function pressure({ Full: full, Some: some }: PsiStats): unknown {
  const side = (data: PsiStats['Full']): unknown => ({
    total: data?.Total ?? 0,
    avg10: data?.Avg10 ?? 0,
    avg60: data?.Avg60 ?? 0,
    avg300: data?.Avg300 ?? 0,
  });
  return { full: side(full), some: side(some) };
}

interface Used {
  readonly cpu: unknown;
  readonly memory: Readonly<Record<string, unknown>>;
}

function used(key: string, usage: CpuAndMemory, at: number, rates: CpuRates): Used {
  const time = rfc3339(at);
  const rate = rates(key, usage.cpuNanoseconds, at);
  return {
    cpu: {
      time,
      ...(rate === undefined ? {} : { usageNanoCores: rate }),
      usageCoreNanoSeconds: usage.cpuNanoseconds,
    },
    memory: {
      time,
      usageBytes: usage.memory.usage,
      workingSetBytes: usage.memory.workingSet,
      rssBytes: usage.memory.rss,
      pageFaults: usage.pageFaults,
      majorPageFaults: usage.majorPageFaults,
    },
  };
}

/** Where nobody tells of the pod as a whole. */
function sumOfCpu({ containers }: CollectedPod, { at }: Collected): unknown {
  const told = containers.flatMap(({ stats }) => stats.cpu ?? []);
  if (told.length === 0) return undefined;
  return { time: rfc3339(at), usageCoreNanoSeconds: sum(told.map((cpu) => cpu.usageCoreNanoSeconds?.value ?? 0)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function filesystem(
  { available, capacity, used: taken, inodes, inodesFree }: DiskUsage,
  time: string,
): Readonly<Record<string, unknown>> {
  return {
    time,
    availableBytes: available,
    capacityBytes: capacity,
    usedBytes: taken,
    inodesFree,
    inodes,
    inodesUsed: inodes - inodesFree,
  };
}

/** What was written to a layer of a file system, and how full that is. */
function written(layer: FilesystemUsage | undefined, disks: Collected['disks'], time: string): unknown {
  const disk = disks.get(layer?.fsId?.mountpoint ?? '') ?? [...disks.values()][0];
  return {
    ...(disk ? filesystem(disk, time) : { time }),
    usedBytes: layer?.usedBytes?.value ?? 0,
    inodesUsed: layer?.inodesUsed?.value ?? 0,
  };
}

function runtimeDisks(
  { imageFs: { imageFilesystems = [], containerFilesystems = [] }, disks }: Collected,
  time: string,
): unknown {
  const [images] = imageFilesystems;
  const [containers = images] = containerFilesystems;
  return {
    ...(images ? { imageFs: written(images, disks, time) } : {}),
    ...(containers ? { containerFs: written(containers, disks, time) } : {}),
  };
}

function networkOfNode({ interfaces, defaultInterface }: MachineUsage, time: string): unknown {
  const chosen = interfaces.find(({ name }) => name === defaultInterface);
  return { time, ...(chosen ?? {}), interfaces };
}

function networkOfPod({ timestamp, defaultInterface, interfaces }: NetworkUsage, at: number): unknown {
  const unboxed = (each: NonNullable<NetworkUsage['defaultInterface']>): InterfaceUsage => ({
    name: each.name ?? '',
    rxBytes: each.rxBytes?.value ?? 0,
    rxErrors: each.rxErrors?.value ?? 0,
    txBytes: each.txBytes?.value ?? 0,
    txErrors: each.txErrors?.value ?? 0,
  });
  const first = defaultInterface ? unboxed(defaultInterface) : undefined;
  const others = (interfaces ?? []).map(unboxed);
  return {
    time: timeOf(timestamp, at),
    ...(first ?? {}),
    interfaces: others.length > 0 ? others : first ? [first] : [],
  };
}
