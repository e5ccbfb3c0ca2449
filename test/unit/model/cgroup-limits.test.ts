import { describe, expect, it } from 'vitest';
import {
  burstableCpu,
  kubepodsLimits,
  podCgroupLimits,
  reservedLimits,
  sharesOf,
} from '../../../src/model/cgroup-limits.ts';
import { podOfCgroup, qosCgroup } from '../../../src/model/cgroup.ts';
import type { Container, PodSpec } from '../../../src/model/pod.ts';

const RULES = { cpuCFSQuota: true, cpuPeriodMicroseconds: 100_000, hugePageSizes: [], podPidsLimit: -1 };
const GIB = 2 ** 30;

type Amounts = Readonly<Record<string, string>>;
function spec(...containers: readonly { readonly requests?: Amounts; readonly limits?: Amounts }[]): PodSpec {
  return { containers: containers.map((resources, index) => ({ name: `c${index}`, resources })) };
}

describe('podCgroupLimits', () => {
  it('limits a Guaranteed pod to the sum of its limits', () => {
    const same = { cpu: '500m', memory: '1Gi' };
    expect(podCgroupLimits(spec({ requests: same, limits: same }, { requests: same, limits: same }), RULES)).toEqual({
      cpuShares: 1_024,
      cpuQuota: 100_000,
      cpuPeriod: 100_000,
      memory: 2 * GIB,
    });
  });

  it('limits a Burstable pod only in what every container has a limit for', () => {
    const both = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } };
    expect(podCgroupLimits(spec(both, { limits: { memory: '1Gi' } }), RULES)).toEqual({
      cpuShares: 102,
      memory: 2 * GIB,
    });
    expect(podCgroupLimits(spec(both, {}), RULES)).toEqual({ cpuShares: 102 });
  });

  it('gives a BestEffort pod 2 shares and no limit of cpu and memory', () => {
    expect(podCgroupLimits(spec({}), RULES)).toEqual({ cpuShares: 2 });
  });

  it.each([
    ['sets no limit of processes for a podPidsLimit of -1', -1, undefined],
    ['sets no limit of processes for a podPidsLimit of 0', 0, undefined],
    ['limits the processes of a BestEffort pod to podPidsLimit, too', 7, 7],
  ])('%s', (_rule, podPidsLimit, pids) => {
    expect(podCgroupLimits(spec({}), { ...RULES, podPidsLimit }).pids).toBe(pids);
  });

  it('gives a BestEffort pod no huge pages', () => {
    expect(podCgroupLimits(spec({}), { ...RULES, hugePageSizes: ['2MB', '1GB'] })).toEqual({
      cpuShares: 2,
      hugePages: { '2MB': 0, '1GB': 0 },
    });
  });

  it('counts init containers and sidecars among those that must have a limit', () => {
    const limited = { name: 'c', resources: { limits: { memory: '1Gi' }, requests: { cpu: '1' } } };
    const memoryWith = (init: Container): unknown =>
      podCgroupLimits({ containers: [limited], initContainers: [init] }, RULES).memory;
    expect(memoryWith({ name: 'i' })).toBeUndefined();
    expect(memoryWith({ name: 's', restartPolicy: 'Always' })).toBeUndefined();
    expect(memoryWith({ ...limited, name: 'i' })).toBe(GIB);
    expect(memoryWith({ ...limited, name: 's', restartPolicy: 'Always' })).toBe(2 * GIB);
  });

  it('limits a pod to what it says as a whole, whatever its containers leave open', () => {
    const whole = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } };
    expect(podCgroupLimits({ ...spec({}, {}), resources: whole }, RULES)).toEqual({
      cpuShares: 1_024,
      cpuQuota: 200_000,
      cpuPeriod: 100_000,
      memory: GIB,
    });
  });

  it('adds the overhead of a pod to its requests and limits', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    const overhead = { cpu: '1', memory: '1Gi' };
    expect(podCgroupLimits({ ...spec({ limits, requests: limits }), overhead }, RULES)).toEqual({
      cpuShares: 2_048,
      cpuQuota: 200_000,
      cpuPeriod: 100_000,
      memory: 2 * GIB,
    });
  });

  it('sets the quota of a pod to -1 under cpuCFSQuota false, and never below 1000 microseconds', () => {
    const tiny = { limits: { cpu: '1m' }, requests: { cpu: '1m' } };
    expect(podCgroupLimits(spec(tiny), { ...RULES, cpuCFSQuota: false })).toMatchObject({ cpuQuota: -1 });
    expect(podCgroupLimits(spec(tiny), RULES)).toMatchObject({ cpuQuota: 1_000, cpuShares: 2 });
  });

  it('limits the processes of a pod to podPidsLimit, and its huge pages to what it requests', () => {
    const huge = { limits: { memory: '1Gi', 'hugepages-2Mi': '4Mi' }, requests: { 'hugepages-2Mi': '4Mi' } };
    expect(podCgroupLimits(spec(huge), { ...RULES, podPidsLimit: 50, hugePageSizes: ['2MB', '1GB'] })).toMatchObject({
      pids: 50,
      hugePages: { '2MB': 4 * 2 ** 20, '1GB': 0 },
    });
  });
});

describe('the cgroups above those of pods', () => {
  const capacity = { cpus: 4, memory: 8 * GIB, hugePages: {} };
  const config = {
    maxPods: 1,
    systemReserved: { cpu: '500m', memory: '1Gi' },
    kubeReserved: { cpu: '500m' },
    evictionHard: {},
  };

  it('burstable pods weigh what they request together', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    const guaranteed = spec({ requests: limits, limits });
    const specs = [spec({ requests: { cpu: '250m' } }), spec({ requests: { cpu: '750m' } }), guaranteed];
    expect(sharesOf(specs.reduce((sum, one) => sum + burstableCpu(one), 0))).toBe(1_024);
    expect(sharesOf(0)).toBe(2);
  });

  it('all pods may use the capacity less systemReserved and kubeReserved, where enforceNodeAllocatable has pods', () => {
    expect(kubepodsLimits(capacity, { ...config, enforceNodeAllocatable: ['pods'] })).toEqual({
      cpuShares: 3_072,
      memory: 7 * GIB,
    });
    expect(kubepodsLimits(capacity, { ...config, enforceNodeAllocatable: [] })).toEqual({ cpuShares: 3_072 });
  });

  it('all pods may use what evictionHard keeps free, too', () => {
    const evictionHard = { 'memory.available': '1Gi' };
    expect(kubepodsLimits(capacity, { ...config, evictionHard, enforceNodeAllocatable: ['pods'] }).memory).toBe(
      7 * GIB,
    );
  });

  it('all pods may have no more processes and huge pages than the machine has', () => {
    const machine = { ...capacity, pids: 32_768, hugePages: { 'hugepages-2Mi': 64 * 2 ** 20, 'hugepages-1Gi': 0 } };
    const kept = { ...config, systemReserved: { pid: '1000' }, kubeReserved: { pid: '768' } };
    expect(kubepodsLimits(machine, { ...kept, enforceNodeAllocatable: ['pods'] })).toMatchObject({
      pids: 31_000,
      hugePages: { '2MB': 64 * 2 ** 20, '1GB': 0 },
    });
    expect(kubepodsLimits(machine, { ...kept, enforceNodeAllocatable: ['none'] })).toEqual({ cpuShares: 4_096 });
  });

  it('system and agent may use what systemReserved and kubeReserved keep for them', () => {
    expect(reservedLimits({ cpu: '1', memory: '1Gi', pid: '100' })).toEqual({
      cpuShares: 1_024,
      memory: GIB,
      pids: 100,
    });
  });

  it('are named as the driver wants it, and so are those of pods', () => {
    expect(qosCgroup('/gold', 'cgroupfs', 'Burstable')).toBe('/gold/kubepods/burstable');
    expect(qosCgroup('', 'systemd', 'BestEffort')).toBe('/kubepods.slice/kubepods-besteffort.slice');
    expect(podOfCgroup('pod1-2', 'cgroupfs')).toBe('1-2');
    expect(podOfCgroup('burstable', 'cgroupfs')).toBeUndefined();
    expect(podOfCgroup('kubepods-burstable-pod1_2.slice', 'systemd')).toBe('1-2');
    expect(podOfCgroup('kubepods-burstable.slice', 'systemd')).toBeUndefined();
  });
});
