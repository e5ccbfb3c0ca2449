import type { ContainerStats } from '../../model/cri/api.ts';
import { gauge, single, type Family, type Labels, type Sample } from '../metrics/family.ts';
import type { Collected, CollectedPod } from './collect.ts';

/** What `/metrics/resource` tells of what is used; the kubelet's names. */
export function resourceFamilies({ machine, pods }: Collected): readonly Family[] {
  const containers = pods.flatMap(({ pod, containers: of }) =>
    of.map((container) => ({
      ...container,
      labels: { container: container.name, namespace: pod.metadata.namespace, pod: pod.metadata.name },
    })),
  );
  const perContainer = (valueOf: (stats: ContainerStats) => number | undefined): readonly Sample[] =>
    containers.flatMap(({ labels, stats }) => sampleOf(labels, valueOf(stats)));
  const perPod = (valueOf: (pod: CollectedPod) => number | undefined): readonly Sample[] =>
    pods.flatMap((each) =>
      sampleOf({ namespace: each.pod.metadata.namespace, pod: each.pod.metadata.name }, valueOf(each)),
    );

  return [
    total('node_cpu_usage_seconds_total', 'Seconds of CPU time that the node has used.', [
      { labels: {}, value: machine.cpuNanoseconds / 1e9 },
    ]),
    single('node_memory_working_set_bytes', 'Bytes of memory that the node cannot spare.', machine.memory.workingSet),
    single('node_swap_usage_bytes', 'Bytes of swap that the node uses.', machine.swap.used),
    total(
      'container_cpu_usage_seconds_total',
      'Seconds of CPU time that the container has used.',
      perContainer(({ cpu }) => seconds(cpu?.usageCoreNanoSeconds?.value)),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Bytes of memory that the container cannot spare.',
      perContainer(({ memory }) => memory?.workingSetBytes?.value),
    ),
    gauge(
      'container_start_time_seconds',
      'When the container was started, in seconds since 1970.',
      containers.flatMap(({ labels, startedAt }) => sampleOf(labels, seconds(startedAt))),
    ),
    gauge(
      'container_swap_usage_bytes',
      'Bytes of swap that the container uses.',
      perContainer(({ swap }) => swap && (swap.swapUsageBytes?.value ?? 0)),
    ),
    gauge(
      'container_swap_limit_bytes',
      'Bytes of swap that the container may use.',
      perContainer(
        ({ swap }) =>
          swap?.swapAvailableBytes && (swap.swapAvailableBytes.value ?? 0) + (swap.swapUsageBytes?.value ?? 0),
      ),
    ),
    total(
      'pod_cpu_usage_seconds_total',
      'Seconds of CPU time that the pod has used.',
      perPod((pod) => seconds(cpuOf(pod))),
    ),
    gauge('pod_memory_working_set_bytes', 'Bytes of memory that the pod cannot spare.', perPod(memoryOf)),
    gauge(
      'pod_swap_usage_bytes',
      'Bytes of swap that the pod uses.',
      perPod(({ cgroup }) => cgroup?.swap),
    ),
    ...scrapeErrors(false),
  ];
}

/** Whether the look failed; under the kubelet's name of today and the one before it. */
export function scrapeErrors(failed: boolean): readonly Family[] {
  const value = failed ? 1 : 0;
  return [
    single('scrape_error', 'Whether what is used could not be found out.', value),
    single('resource_scrape_error', 'Whether what is used could not be found out.', value),
  ];
}

function cpuOf({ sandbox, cgroup, containers }: CollectedPod): number | undefined {
  const whole = sandbox?.linux?.cpu?.usageCoreNanoSeconds?.value ?? cgroup?.cpuNanoseconds;
  if (whole !== undefined || containers.length === 0) return whole;
  return containers.reduce((sum, { stats }) => sum + (stats.cpu?.usageCoreNanoSeconds?.value ?? 0), 0);
}

function memoryOf({ sandbox, cgroup, containers }: CollectedPod): number | undefined {
  const whole = sandbox?.linux?.memory?.workingSetBytes?.value ?? cgroup?.memory.workingSet;
  if (whole !== undefined || containers.length === 0) return whole;
  return containers.reduce((sum, { stats }) => sum + (stats.memory?.workingSetBytes?.value ?? 0), 0);
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
