import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ContainerStats, PodSandboxStats } from '../../../../src/model/cri/api.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { exposition } from '../../../../src/server/metrics/family.ts';
import type { Collected, CollectedPod } from '../../../../src/server/stats/collect.ts';
import { cadvisorFailed, cadvisorFamilies } from '../../../../src/server/stats/cadvisor-families.ts';
import { cpuRates } from '../../../../src/server/stats/cpu-rates.ts';
import { resourceFamilies, scrapeErrors } from '../../../../src/server/stats/resource-families.ts';
import { summaryOf, type SummaryOptions } from '../../../../src/server/stats/summary.ts';
import type { CgroupUsage, DiskUsage, MachineUsage } from '../../../../src/streams/ports/node-usage.ts';
import { parseExposition } from '../../../parse-exposition.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const TIME = '2026-01-02T03:04:05Z';
const USED = {
  cpuNanoseconds: 8e9,
  memory: { usage: 900, workingSet: 800, rss: 700 },
  pageFaults: 6,
  majorPageFaults: 5,
};
const DISK: DiskUsage = { available: 60, capacity: 100, used: 40, inodes: 10, inodesFree: 7 };
const MACHINE: MachineUsage = {
  ...USED,
  bootedAt: AT - 3_600_000,
  memoryAvailable: 1_200,
  swap: { used: 1, available: 2 },
  interfaces: [{ name: 'eth0', rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 }],
  defaultInterface: 'eth0',
  processes: { current: 200, most: 32_768 },
};
const CONTAINER: ContainerStats = {
  cpu: { timestamp: AT * 1e6, usageCoreNanoSeconds: { value: 3e9 }, usageNanoCores: { value: 5e8 } },
  memory: { timestamp: AT * 1e6, workingSetBytes: { value: 64 }, usageBytes: { value: 70 } },
  writableLayer: { fsId: { mountpoint: '/ctrd' }, usedBytes: { value: 11 }, inodesUsed: { value: 2 } },
  swap: { swapUsageBytes: { value: 4 }, swapAvailableBytes: { value: 6 } },
};
const SANDBOX: PodSandboxStats = {
  linux: {
    cpu: { usageCoreNanoSeconds: { value: 4e9 }, usageNanoCores: { value: 6e8 } },
    memory: { workingSetBytes: { value: 80 } },
    process: { processCount: { value: 3 } },
    network: { defaultInterface: { name: 'eth0', rxBytes: { value: 9 } } },
  },
};
const CGROUP: CgroupUsage = { ...USED, processes: 4, swap: 12 };

function podWith(parts: Partial<CollectedPod>): CollectedPod {
  return {
    pod: {
      metadata: { name: 'web', namespace: 'default', uid: 'u-1' as PodUid, labels: {}, annotations: {} },
      spec: { containers: [{ name: 'app', image: 'web:1' }] },
    },
    startedAt: (AT - 10_000) * 1e6,
    containers: [{ name: 'app', id: 'c-1', stats: CONTAINER, startedAt: (AT - 9_000) * 1e6, logs: 100 }],
    ...parts,
  };
}

function collectedWith(pod: CollectedPod): Collected {
  return {
    at: AT,
    machine: MACHINE,
    pods: [pod],
    disk: DISK,
    imageFs: { imageFilesystems: [{ fsId: { mountpoint: '/ctrd' }, usedBytes: { value: 33 } }] },
    disks: new Map([['/ctrd', DISK]]),
  };
}

function summary(pod: CollectedPod, options: Partial<SummaryOptions> = {}): unknown {
  const self = { ...USED, startedAt: AT - 60_000 };
  return summaryOf(collectedWith(pod), {
    nodeName: 'n1',
    onlyCpuAndMemory: false,
    rates: cpuRates(),
    self,
    ...options,
  });
}

describe('summaryOf', () => {
  it('tells the node in the shape of the kubelet', () => {
    expect(summary(podWith({}))).toMatchObject({
      node: {
        nodeName: 'n1',
        startTime: '2026-01-02T02:04:05Z',
        systemContainers: [{ name: 'kubelet', startTime: '2026-01-02T03:03:05Z' }],
        cpu: { time: TIME, usageCoreNanoSeconds: 8e9 },
        memory: {
          time: TIME,
          availableBytes: 1_200,
          usageBytes: 900,
          workingSetBytes: 800,
          rssBytes: 700,
          pageFaults: 6,
          majorPageFaults: 5,
        },
        network: {
          time: TIME,
          name: 'eth0',
          rxBytes: 1,
          rxErrors: 2,
          txBytes: 3,
          txErrors: 4,
          interfaces: [{ name: 'eth0' }],
        },
        fs: {
          time: TIME,
          availableBytes: 60,
          capacityBytes: 100,
          usedBytes: 40,
          inodesFree: 7,
          inodes: 10,
          inodesUsed: 3,
        },
        runtime: { imageFs: { usedBytes: 33, capacityBytes: 100 }, containerFs: { usedBytes: 33 } },
        rlimit: { time: TIME, maxpid: 32_768, curproc: 200 },
        swap: { time: TIME, swapAvailableBytes: 2, swapUsageBytes: 1 },
      },
    });
  });

  it('tells a container by the figures of the runtime, and its logs', () => {
    expect(summary(podWith({ sandbox: SANDBOX }))).toMatchObject({
      pods: [
        {
          podRef: { name: 'web', namespace: 'default', uid: 'u-1' },
          startTime: '2026-01-02T03:03:55Z',
          containers: [
            {
              name: 'app',
              startTime: '2026-01-02T03:03:56Z',
              cpu: { time: TIME, usageNanoCores: 5e8, usageCoreNanoSeconds: 3e9 },
              memory: { time: TIME, workingSetBytes: 64, usageBytes: 70 },
              rootfs: { usedBytes: 11, inodesUsed: 2, capacityBytes: 100 },
              logs: { usedBytes: 100, capacityBytes: 100 },
              swap: { swapUsageBytes: 4, swapAvailableBytes: 6 },
            },
          ],
          cpu: { usageNanoCores: 6e8, usageCoreNanoSeconds: 4e9 },
          memory: { workingSetBytes: 80 },
          network: { name: 'eth0', rxBytes: 9, txErrors: 0 },
          'ephemeral-storage': { usedBytes: 111, inodesUsed: 2, capacityBytes: 100 },
          process_stats: { process_count: 3 },
        },
      ],
    });
  });

  it('tells a pod by its cgroup where the runtime does not know of it', () => {
    expect(summary(podWith({ cgroup: CGROUP }))).toMatchObject({
      pods: [
        {
          cpu: { usageCoreNanoSeconds: 8e9 },
          memory: { workingSetBytes: 800 },
          process_stats: { process_count: 4 },
          swap: { swapUsageBytes: 12 },
        },
      ],
    });
  });

  it('adds up its containers where nobody knows of the pod', () => {
    expect(summary(podWith({}))).toMatchObject({ pods: [{ cpu: { usageCoreNanoSeconds: 3e9 } }] });
  });

  it('tells CPU and memory only, when asked so', () => {
    const told = JSON.stringify(summary(podWith({ sandbox: SANDBOX }), { onlyCpuAndMemory: true }));
    expect(told).toContain('usageCoreNanoSeconds');
    for (const field of ['fs', 'network', 'rootfs', 'logs', 'rlimit', 'runtime', 'ephemeral-storage']) {
      expect(told).not.toContain(`"${field}"`);
    }
  });
});

describe('cpuRates', () => {
  it('tells the average between two looks, in billionths of a core', () => {
    const rates = cpuRates();
    expect(rates('a', 1e9, 1_000)).toBeUndefined();
    expect(rates('a', 2e9, 3_000)).toBe(5e8);
    expect(rates('b', 2e9, 3_000)).toBeUndefined();
  });

  it('repeats itself to who asks again at once, and begins anew after a restart or a jump of the clock', () => {
    const rates = cpuRates();
    rates('a', 1e9, 1_000);
    rates('a', 2e9, 3_000);
    expect(rates('a', 2e9, 3_100)).toBe(5e8);
    expect(rates('a', 5e8, 5_000)).toBeUndefined();
    expect(rates('a', 6e8, 1_000)).toBeUndefined();
    expect(rates('a', 1.6e9, 2_000)).toBe(1e9);
  });
});

describe('summaryOf, of a pod with volumes', () => {
  const volumes = new Map([
    [
      'u-1' as PodUid,
      [
        { name: 'scratch', isEphemeral: true, disk: DISK, used: { bytes: 5, inodes: 1 } },
        { name: 'db', isEphemeral: false, claim: 'data', disk: DISK, used: { bytes: 7, inodes: 3 } },
        { name: 'large', isEphemeral: true, disk: DISK },
      ],
    ],
  ]);

  it('tells each of them, and counts those that go with it as its local storage', () => {
    const [pod] = (summary(podWith({}), { volumes }) as { pods: readonly object[] }).pods;
    const disk = { time: TIME, availableBytes: 60, capacityBytes: 100, inodesFree: 7, inodes: 10 };
    expect(pod).toMatchObject({
      volume: [
        { ...disk, name: 'scratch', usedBytes: 5, inodesUsed: 1 },
        { ...disk, name: 'db', usedBytes: 7, inodesUsed: 3, pvcRef: { name: 'data', namespace: 'default' } },
        { ...disk, name: 'large' },
      ],
      // What containers wrote, their logs, and the one volume that was counted.
      'ephemeral-storage': { usedBytes: 100 + 11 + 5, inodesUsed: 2 + 1 },
    });
  });

  it('tells none of them where only CPU and memory are asked for', () => {
    const [pod] = (summary(podWith({}), { volumes, onlyCpuAndMemory: true }) as { pods: readonly object[] }).pods;
    expect(pod).not.toHaveProperty('volume');
  });
});

describe('cadvisorFamilies', () => {
  function families(parts: Partial<CollectedPod>) {
    return parseExposition(exposition(cadvisorFamilies(collectedWith(podWith(parts)))));
  }

  it('tells the machine, the pod as a whole and its container under the names and labels of cAdvisor', () => {
    const told = families({ cgroup: CGROUP, cgroupPath: '/kubepods/burstable/podu-1' });
    expect(told.get('container_cpu_usage_seconds_total')?.samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ container: '', id: '/', image: '', name: '', namespace: '', pod: '', cpu: 'total' }, 8],
      [
        {
          ...{ container: '', id: '/kubepods/burstable/podu-1', image: '', name: '', namespace: 'default', pod: 'web' },
          cpu: 'total',
        },
        8,
      ],
      [
        {
          ...{ container: 'app', id: '/kubepods/burstable/podu-1/c-1', image: 'web:1', name: 'c-1' },
          ...{ namespace: 'default', pod: 'web', cpu: 'total' },
        },
        3,
      ],
    ]);
    const ofContainer = (name: string): number | undefined =>
      told.get(name)?.samples.find(({ labels }) => labels['container'] === 'app')?.value;
    expect(ofContainer('container_memory_working_set_bytes')).toBe(64);
    expect(ofContainer('container_memory_usage_bytes')).toBe(70);
    expect(ofContainer('container_memory_swap')).toBe(4);
    expect(ofContainer('container_fs_usage_bytes')).toBe(11);
    expect(ofContainer('container_start_time_seconds')).toBe((AT - 9_000) / 1_000);
    expect(told.get('machine_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1e6);
  });

  it('takes what the runtime tells of a pod, and tells its network under POD', () => {
    const told = families({ sandbox: SANDBOX, cgroup: CGROUP });
    const whole = (name: string): number | undefined =>
      told.get(name)?.samples.find(({ labels }) => labels['pod'] === 'web' && labels['container'] === '')?.value;
    expect(whole('container_cpu_usage_seconds_total')).toBe(4);
    expect(whole('container_memory_working_set_bytes')).toBe(80);
    expect(whole('container_processes')).toBe(3);
    const [received] = told.get('container_network_receive_bytes_total')?.samples ?? [];
    expect(received).toMatchObject({ labels: { container: 'POD', pod: 'web', interface: 'eth0' }, value: 9 });
  });

  it('leaves out what nobody tells, and explains each metric in the docs', () => {
    const docs = readFileSync(new URL('../../../../docs/endpoints.md', import.meta.url), 'utf8');
    const told = families({ containers: [{ name: 'app', id: 'c-1', stats: {}, logs: 0 }] });
    expect(told.get('container_network_receive_bytes_total')).toBeUndefined();
    expect([...families({ sandbox: SANDBOX }).keys()].filter((name) => !docs.includes(name))).toEqual([]);
  });

  it('tells a failed look', () => {
    expect(parseExposition(exposition(cadvisorFailed())).get('container_scrape_error')?.samples[0]?.value).toBe(1);
  });
});

describe('resourceFamilies', () => {
  it('tells node, pod and container under the names of the kubelet', () => {
    const text = exposition(resourceFamilies(collectedWith(podWith({ cgroup: CGROUP }))));
    const families = parseExposition(text);
    expect(Object.fromEntries([...families].map(([name, { samples }]) => [name, samples[0]?.value]))).toEqual({
      node_cpu_usage_seconds_total: 8,
      node_memory_working_set_bytes: 800,
      node_swap_usage_bytes: 1,
      container_cpu_usage_seconds_total: 3,
      container_memory_working_set_bytes: 64,
      container_start_time_seconds: (AT - 9_000) / 1_000,
      container_swap_usage_bytes: 4,
      container_swap_limit_bytes: 10,
      pod_cpu_usage_seconds_total: 8,
      pod_memory_working_set_bytes: 800,
      pod_swap_usage_bytes: 12,
      scrape_error: 0,
      resource_scrape_error: 0,
    });
    expect(families.get('container_cpu_usage_seconds_total')?.samples[0]?.labels).toEqual({
      container: 'app',
      namespace: 'default',
      pod: 'web',
    });
  });

  it('tells a failed look', () => {
    expect(parseExposition(exposition(scrapeErrors(true))).get('resource_scrape_error')?.samples[0]?.value).toBe(1);
  });
});
