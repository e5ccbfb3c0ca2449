import { cpus, totalmem } from 'node:os';
import { allContainers } from '../../model/containers.ts';
import type { ContainerStats, NetworkInterfaceUsage } from '../../model/cri/api.ts';
import { gauge, single, type Family, type Labels, type Sample } from '../metrics/family.ts';
import type { Collected, CollectedContainer, CollectedPod } from './collect.ts';

/** One thing that uses the machine, with what is known of it. */
interface Seen {
  readonly labels: Labels;
  readonly cpuNanoseconds?: number | undefined;
  readonly usage?: number | undefined;
  readonly workingSet?: number | undefined;
  readonly rss?: number | undefined;
  readonly swap?: number | undefined;
  readonly faults?: number | undefined;
  readonly majorFaults?: number | undefined;
  readonly processes?: number | undefined;
  /** Nanoseconds since 1970. */
  readonly startedAt?: number | undefined;
  readonly written?: number | undefined;
  readonly writtenInodes?: number | undefined;
}

/**
 * What `/metrics/cadvisor` tells: the names and labels of cAdvisor, from what the runtime and the cgroups know. A pod as
 * a whole has an empty `container` and `name`; its network is told under `POD`, as it belongs to its sandbox.
 */
export function cadvisorFamilies({ at, machine, podsCgroup, pods }: Collected): readonly Family[] {
  const root: Seen = {
    labels: labelled('/'),
    cpuNanoseconds: machine.cpuNanoseconds,
    ...machine.memory,
    swap: machine.swap.used,
    faults: machine.pageFaults,
    majorFaults: machine.majorPageFaults,
    processes: machine.processes.current,
    startedAt: machine.bootedAt * 1e6,
  };
  const ofPods: readonly Seen[] = podsCgroup
    ? [
        {
          labels: labelled('/kubepods'),
          cpuNanoseconds: podsCgroup.cpuNanoseconds,
          ...podsCgroup.memory,
          swap: podsCgroup.swap,
          faults: podsCgroup.pageFaults,
          majorFaults: podsCgroup.majorPageFaults,
          processes: podsCgroup.processes,
        },
      ]
    : [];
  const seen = [
    root,
    ...ofPods,
    ...pods.flatMap((pod) => [wholeOf(pod), ...pod.containers.map((one) => seenOf(one, pod))]),
  ];

  const each = (valueOf: (one: Seen) => number | undefined, more: Labels = {}): readonly Sample[] =>
    seen.flatMap((one) => sampleOf({ ...one.labels, ...more }, valueOf(one)));
  const network = (valueOf: (usage: NetworkInterfaceUsage) => number): readonly Sample[] =>
    pods.flatMap((pod) =>
      interfacesOf(pod).map((usage) => ({
        labels: { ...labelsIn(pod, 'POD', pod.sandbox?.attributes?.id ?? ''), interface: usage.name ?? '' },
        value: valueOf(usage),
      })),
    );

  return [
    total(
      'container_cpu_usage_seconds_total',
      'Seconds of CPU time that were used.',
      each(({ cpuNanoseconds }) => seconds(cpuNanoseconds), { cpu: 'total' }),
    ),
    gauge(
      'container_memory_usage_bytes',
      'Bytes of memory in use, caches included.',
      each(({ usage }) => usage),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Bytes that cannot be spared.',
      each(({ workingSet }) => workingSet),
    ),
    gauge(
      'container_memory_rss',
      'Bytes of memory that belong to no file.',
      each(({ rss }) => rss),
    ),
    gauge(
      'container_memory_swap',
      'Bytes of swap in use.',
      each(({ swap }) => swap),
    ),
    total('container_memory_failures_total', 'Page faults.', [
      ...each(({ faults }) => faults, { failure_type: 'pgfault', scope: 'container' }),
      ...each(({ majorFaults }) => majorFaults, { failure_type: 'pgmajfault', scope: 'container' }),
    ]),
    gauge(
      'container_processes',
      'Processes that run.',
      each(({ processes }) => processes),
    ),
    gauge(
      'container_start_time_seconds',
      'When it was started, in seconds since 1970.',
      each(({ startedAt }) => seconds(startedAt)),
    ),
    gauge(
      'container_last_seen',
      'When it was looked at, in seconds since 1970.',
      each(() => Math.floor(at / 1_000)),
    ),
    gauge(
      'container_fs_usage_bytes',
      'Bytes written to the layer of the container.',
      each(({ written }) => written),
    ),
    gauge(
      'container_fs_inodes_used',
      'Inodes of that layer.',
      each(({ writtenInodes }) => writtenInodes),
    ),
    total(
      'container_network_receive_bytes_total',
      'Bytes received.',
      network(({ rxBytes }) => rxBytes?.value ?? 0),
    ),
    total(
      'container_network_receive_errors_total',
      'Errors on receiving.',
      network(({ rxErrors }) => rxErrors?.value ?? 0),
    ),
    total(
      'container_network_transmit_bytes_total',
      'Bytes sent.',
      network(({ txBytes }) => txBytes?.value ?? 0),
    ),
    total(
      'container_network_transmit_errors_total',
      'Errors on sending.',
      network(({ txErrors }) => txErrors?.value ?? 0),
    ),
    scrapeError(0),
    single('machine_cpu_cores', 'Cores of the machine.', cpus().length),
    single('machine_memory_bytes', 'Bytes of memory of the machine.', totalmem()),
  ];
}

/** What is told where the runtime does not answer. */
export function cadvisorFailed(): readonly Family[] {
  return [scrapeError(1)];
}

function scrapeError(value: 0 | 1): Family {
  return single('container_scrape_error', 'Whether what is used could not be found out.', value);
}

function wholeOf(pod: CollectedPod): Seen {
  const { sandbox, cgroup, startedAt } = pod;
  const { cpu, memory, process } = sandbox?.linux ?? {};
  return {
    labels: labelsIn(pod, '', ''),
    cpuNanoseconds: cpu?.usageCoreNanoSeconds?.value ?? cgroup?.cpuNanoseconds,
    usage: memory?.usageBytes?.value ?? cgroup?.memory.usage,
    workingSet: memory?.workingSetBytes?.value ?? cgroup?.memory.workingSet,
    rss: memory?.rssBytes?.value ?? cgroup?.memory.rss,
    swap: cgroup?.swap,
    faults: memory?.pageFaults?.value ?? cgroup?.pageFaults,
    majorFaults: memory?.majorPageFaults?.value ?? cgroup?.majorPageFaults,
    processes: process?.processCount?.value ?? cgroup?.processes,
    startedAt,
  };
}

function seenOf({ name, id, stats, startedAt }: CollectedContainer, pod: CollectedPod): Seen {
  const { cpu, memory, swap, writableLayer }: ContainerStats = stats;
  return {
    labels: labelsIn(pod, name, id),
    cpuNanoseconds: cpu?.usageCoreNanoSeconds?.value,
    usage: memory?.usageBytes?.value,
    workingSet: memory?.workingSetBytes?.value,
    rss: memory?.rssBytes?.value,
    swap: swap?.swapUsageBytes?.value,
    faults: memory?.pageFaults?.value,
    majorFaults: memory?.majorPageFaults?.value,
    startedAt,
    written: writableLayer?.usedBytes?.value,
    writtenInodes: writableLayer?.inodesUsed?.value,
  };
}

/** `id` is the path of the cgroup, as far as it is known. */
function labelsIn({ pod, cgroupPath }: CollectedPod, container: string, containerId: string): Labels {
  const { name, namespace, uid } = pod.metadata;
  const image = allContainers(pod.spec).find((one) => one.name === container)?.image ?? '';
  const folder = cgroupPath ?? `/kubepods/pod${uid}`;
  return {
    container,
    id: containerId === '' ? folder : `${folder}/${containerId}`,
    image,
    name: containerId,
    namespace,
    pod: name,
  };
}

function labelled(id: string): Labels {
  return { container: '', id, image: '', name: '', namespace: '', pod: '' };
}

function interfacesOf({ sandbox }: CollectedPod): readonly NetworkInterfaceUsage[] {
  const { defaultInterface, interfaces = [] } = sandbox?.linux?.network ?? {};
  return interfaces.length > 0 ? interfaces : defaultInterface ? [defaultInterface] : [];
}

function total(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'counter', samples };
}

function seconds(nanoseconds: number | undefined): number | undefined {
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}

function sampleOf(labels: Labels, value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels, value }];
}
