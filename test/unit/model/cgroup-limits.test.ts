import { describe, expect, it } from 'vitest';
import {
  burstableCpu,
  kubepodsLimits,
  podCgroupLimits,
  reservedLimits,
  sharesOf,
} from '../../../src/model/cgroup-limits.ts';
import { podOfCgroup, qosCgroup } from '../../../src/model/cgroup.ts';
import type { PodSpec } from '../../../src/model/pod.ts';

const RULES = { cpuCFSQuota: true, cpuPeriodMicroseconds: 100_000, hugePageSizes: [], podPidsLimit: -1 };
const GIB = 2 ** 30;

type Amounts = Readonly<Record<string, string>>;
function spec(...containers: readonly { readonly requests?: Amounts; readonly limits?: Amounts }[]): PodSpec {
  return { containers: containers.map((resources, index) => ({ name: `c${index}`, resources })) };
}

describe('podCgroupLimits', () => {
  it('limits a guaranteed pod to the sum of its limits', () => {
    const same = { cpu: '500m', memory: '1Gi' };
    expect(podCgroupLimits(spec({ requests: same, limits: same }, { requests: same, limits: same }), RULES)).toEqual({
      cpuShares: 1_024,
      cpuQuota: 100_000,
      cpuPeriod: 100_000,
      memory: 2 * GIB,
    });
  });

  it('limits a burstable pod only in what every container has a limit for', () => {
    const both = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } };
    expect(podCgroupLimits(spec(both, { limits: { memory: '1Gi' } }), RULES)).toEqual({
      cpuShares: 102,
      memory: 2 * GIB,
    });
    expect(podCgroupLimits(spec(both, {}), RULES)).toEqual({ cpuShares: 102 });
  });

  it('gives a pod that asks for nothing the least weight', () => {
    expect(podCgroupLimits(spec({}), RULES)).toEqual({ cpuShares: 2 });
  });

  it('takes a quota away where quotas are switched off, and never makes one of less than a millisecond', () => {
    const tiny = { limits: { cpu: '1m' }, requests: { cpu: '1m' } };
    expect(podCgroupLimits(spec(tiny), { ...RULES, cpuCFSQuota: false })).toMatchObject({ cpuQuota: -1 });
    expect(podCgroupLimits(spec(tiny), RULES)).toMatchObject({ cpuQuota: 1_000, cpuShares: 2 });
  });

  it('limits processes where the node says so, and huge pages to what is asked for', () => {
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

  it('burstable pods weigh what they ask for together', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    const guaranteed = spec({ requests: limits, limits });
    const specs = [spec({ requests: { cpu: '250m' } }), spec({ requests: { cpu: '750m' } }), guaranteed];
    expect(sharesOf(specs.reduce((sum, one) => sum + burstableCpu(one), 0))).toBe(1_024);
    expect(sharesOf(0)).toBe(2);
  });

  it('all pods may use what is not kept for others', () => {
    expect(kubepodsLimits(capacity, { ...config, enforceNodeAllocatable: ['pods'] })).toEqual({
      cpuShares: 3_072,
      memory: 7 * GIB,
    });
    expect(kubepodsLimits(capacity, { ...config, enforceNodeAllocatable: [] })).toEqual({ cpuShares: 3_072 });
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

  it('others may use what is kept for them', () => {
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
