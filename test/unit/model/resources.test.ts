import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import {
  containerResources,
  overheadResources,
  sandboxResources,
  type ResourceRules,
} from '../../../src/model/resources.ts';

type Resources = NonNullable<Container['resources']>;

/** The machine on which the kubelet was recorded. */
const RULES: ResourceRules = {
  cpuCFSQuota: true,
  cpuPeriodMicroseconds: 100_000,
  memoryCapacity: 24 * 1024 ** 3,
  hugePageSizes: ['2MB'],
  cgroupV2: false,
  swapController: true,
  singleProcessOomKill: true,
};
const HUGE_PAGES = { hugepageLimits: [{ pageSize: '2MB', limit: 0 }] };

function spec(...resources: readonly Resources[]): PodSpec {
  return { containers: resources.map((given, n) => ({ name: `c${n}`, resources: given })) };
}

function first({ containers }: PodSpec): Container {
  const [container] = containers;
  if (!container) throw new Error('a pod has a container');
  return container;
}

describe('containerResources and sandboxResources', () => {
  it.each<[string, Resources, object, object]>([
    [
      '01-guaranteed',
      { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } },
      { cpuPeriod: 100_000, cpuQuota: 50_000, cpuShares: 512, memoryLimitInBytes: 67_108_864 },
      { oomScoreAdj: -997, memorySwapLimitInBytes: 67_108_864 },
    ],
    [
      '02-burstable',
      { limits: { cpu: '300m', memory: '96Mi' }, requests: { cpu: '100m', memory: '32Mi' } },
      { cpuPeriod: 100_000, cpuQuota: 30_000, cpuShares: 102, memoryLimitInBytes: 100_663_296 },
      { oomScoreAdj: 999, memorySwapLimitInBytes: 100_663_296 },
    ],
    [
      '04-only-requests',
      { requests: { cpu: '250m', memory: '48Mi' } },
      { cpuPeriod: 100_000, cpuShares: 256 },
      { oomScoreAdj: 999 },
    ],
    [
      '05-only-memory',
      { limits: { memory: '40Mi' }, requests: { memory: '40Mi' } },
      { cpuPeriod: 100_000, cpuShares: 2, memoryLimitInBytes: 41_943_040 },
      { oomScoreAdj: 999, memorySwapLimitInBytes: 41_943_040 },
    ],
    [
      '07-fractional',
      { limits: { cpu: '1500m', memory: '12M' }, requests: { cpu: '2m', memory: '1536Ki' } },
      { cpuPeriod: 100_000, cpuQuota: 150_000, cpuShares: 2, memoryLimitInBytes: 12_000_000 },
      { oomScoreAdj: 999, memorySwapLimitInBytes: 12_000_000 },
    ],
    [
      '08-tiny-cpu',
      { limits: { cpu: '1m' }, requests: { cpu: '1m' } },
      { cpuPeriod: 100_000, cpuQuota: 1_000, cpuShares: 2 },
      { oomScoreAdj: 999 },
    ],
    [
      '10-zero',
      { limits: { cpu: '0', memory: '0' }, requests: { cpu: '0', memory: '0' } },
      { cpuPeriod: 100_000, cpuShares: 2 },
      { oomScoreAdj: 1_000 },
    ],
    [
      '11-mixed-units',
      { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '1', memory: '64Mi' } },
      { cpuPeriod: 100_000, cpuQuota: 100_000, cpuShares: 1_024, memoryLimitInBytes: 67_108_864 },
      { oomScoreAdj: -997, memorySwapLimitInBytes: 67_108_864 },
    ],
    [
      '19-extended',
      { limits: { 'gold.test/gizmo': '2' }, requests: { 'gold.test/gizmo': '2' } },
      { cpuPeriod: 100_000, cpuShares: 2 },
      { oomScoreAdj: 1_000 },
    ],
    ['22-resize-policy', { requests: { cpu: '100m' } }, { cpuPeriod: 100_000, cpuShares: 102 }, { oomScoreAdj: 999 }],
    [
      '23-overhead',
      { limits: { cpu: '100m', memory: '32Mi' }, requests: { cpu: '100m', memory: '32Mi' } },
      { cpuPeriod: 100_000, cpuQuota: 10_000, cpuShares: 102, memoryLimitInBytes: 33_554_432 },
      { oomScoreAdj: -997, memorySwapLimitInBytes: 33_554_432 },
    ],
  ])('are those of the kubelet in its recording %s', (_case, resources, ofSandbox, more) => {
    const pod = spec(resources);
    expect(sandboxResources(pod, RULES)).toEqual(ofSandbox);
    expect(containerResources(pod, first(pod), RULES)).toEqual({ ...ofSandbox, ...more, ...HUGE_PAGES });
  });

  it('tell a sandbox the sum over the containers, leaving out what a container leaves open', () => {
    const pod = spec(
      { requests: { cpu: '100m' }, limits: { cpu: '100m', memory: '1Ki' } },
      {},
      { requests: { cpu: '50m' }, limits: { cpu: '1' } },
    );
    expect(sandboxResources(pod, RULES)).toEqual({
      cpuPeriod: 100_000,
      cpuQuota: 110_000,
      cpuShares: 153,
      memoryLimitInBytes: 1_024,
    });
  });

  it.each<[string, Resources, Partial<ResourceRules>, object]>([
    ['give 1024 shares to a core that is requested', { requests: { cpu: '1' } }, {}, { cpuShares: 1_024 }],
    ['round shares down', { requests: { cpu: '1999m' } }, {}, { cpuShares: 2_046 }],
    ['give the least shares, 2, to what requests no cpu', {}, {}, { cpuShares: 2 }],
    ['give the least shares, 2, to what requests less', { requests: { cpu: '1m' } }, {}, { cpuShares: 2 }],
    ['give no more than 262144 shares', { requests: { cpu: '300' } }, {}, { cpuShares: 262_144 }],
    [
      'go by the request of cpu for shares, and by its limit for the quota',
      { requests: { cpu: '1' }, limits: { cpu: '2' } },
      {},
      { cpuShares: 1_024, cpuQuota: 200_000, cpuPeriod: 100_000 },
    ],
    [
      'set no quota without a limit of cpu',
      { requests: { cpu: '1' } },
      {},
      { cpuQuota: undefined, cpuPeriod: 100_000 },
    ],
    ['set no quota for a limit of cpu that is 0', { limits: { cpu: '0' } }, {}, { cpuQuota: undefined }],
    ['set no quota below 1000 microseconds', { limits: { cpu: '5m' } }, {}, { cpuQuota: 1_000 }],
    [
      'reckon the quota by the period of cpuCFSQuotaPeriod',
      { limits: { cpu: '500m' } },
      { cpuPeriodMicroseconds: 20_000 },
      { cpuQuota: 10_000, cpuPeriod: 20_000 },
    ],
    ['limit memory to its limit in bytes', { limits: { memory: '1Mi' } }, {}, { memoryLimitInBytes: 1_048_576 }],
    [
      'set no limit of memory for a request alone',
      { requests: { memory: '1Mi' } },
      {},
      { memoryLimitInBytes: undefined },
    ],
    ['set no limit of memory for one that is 0', { limits: { memory: '0' } }, {}, { memoryLimitInBytes: undefined }],
    [
      'say memory.oom.group nowhere on cgroup v1',
      {},
      { cgroupV2: false, singleProcessOomKill: false },
      { unified: undefined },
    ],
  ])('%s', (_rule, resources, rules, expected) => {
    const pod = spec(resources);
    const given = containerResources(pod, first(pod), { ...RULES, ...rules });
    expect({ cpuQuota: undefined, memoryLimitInBytes: undefined, unified: undefined, ...given }).toMatchObject(
      expected,
    );
  });

  it('take the limit of cpu for its request where there is no request', () => {
    const pod = spec({ limits: { cpu: '2' } });
    expect(containerResources(pod, first(pod), RULES)).toMatchObject({ cpuShares: 2_048, cpuQuota: 200_000 });
  });

  it('say nothing of quota and period under cpuCFSQuota false', () => {
    const pod = spec({ limits: { cpu: '2', memory: '1Mi' } });
    const rules = { ...RULES, cpuCFSQuota: false };
    expect(containerResources(pod, first(pod), rules)).not.toHaveProperty('cpuQuota');
    expect(sandboxResources(pod, rules)).toEqual({ cpuShares: 2_048, memoryLimitInBytes: 1_048_576 });
  });

  it.each<[string, Partial<ResourceRules>, object | undefined, number | undefined]>([
    [
      'keep a container with a limit of memory from swap on cgroup v1 by one limit of memory and swap together',
      {},
      undefined,
      1_048_576,
    ],
    ['say nothing of swap on cgroup v1 where the kernel counts none', { swapController: false }, undefined, undefined],
    [
      'keep a container from swap on cgroup v2 by memory.swap.max 0',
      { cgroupV2: true },
      { 'memory.swap.max': '0' },
      undefined,
    ],
    [
      'say nothing of swap on cgroup v2 where the kernel counts none',
      { cgroupV2: true, swapController: false },
      undefined,
      undefined,
    ],
    [
      'have a container on cgroup v2 killed as a whole by memory.oom.group 1, unless singleProcessOOMKill is set',
      { cgroupV2: true, singleProcessOomKill: false },
      { 'memory.oom.group': '1', 'memory.swap.max': '0' },
      undefined,
    ],
  ])('%s', (_rule, more, unified, memorySwapLimitInBytes) => {
    const pod = spec({ limits: { memory: '1Mi' } });
    const resources = containerResources(pod, first(pod), { ...RULES, ...more });
    expect(resources.unified).toEqual(unified);
    expect(resources.memorySwapLimitInBytes).toBe(memorySwapLimitInBytes);
  });

  it('tell a sandbox the larger of what init containers need one by one and what the others need together', () => {
    const pod: PodSpec = {
      initContainers: [
        { name: 'big', resources: { limits: { cpu: '400m', memory: '80Mi' } } },
        { name: 'side', restartPolicy: 'Always', resources: { limits: { cpu: '50m' } } },
      ],
      containers: [{ name: 'main', resources: { limits: { cpu: '100m', memory: '32Mi' } } }],
    };
    expect(sandboxResources(pod, RULES)).toEqual({
      cpuPeriod: 100_000,
      cpuQuota: 40_000,
      cpuShares: 409,
      memoryLimitInBytes: 83_886_080,
    });
  });

  it('give the limits of the pod as a whole to containers that have none of their own', () => {
    const pod: PodSpec = {
      ...spec({}, { limits: { cpu: '100m', memory: '1Mi', 'hugepages-2Mi': '2Mi' } }),
      resources: { limits: { cpu: '300m', memory: '64Mi', 'hugepages-2Mi': '8Mi' } },
    };
    const resources = pod.containers.map((container) => containerResources(pod, container, RULES));
    expect(resources).toMatchObject([
      { cpuQuota: 30_000, memoryLimitInBytes: 67_108_864, hugepageLimits: [{ pageSize: '2MB', limit: 8_388_608 }] },
      { cpuQuota: 10_000, memoryLimitInBytes: 1_048_576, hugepageLimits: [{ pageSize: '2MB', limit: 2_097_152 }] },
    ]);
    expect(sandboxResources(pod, RULES)).toMatchObject({ cpuQuota: 30_000, memoryLimitInBytes: 67_108_864 });
  });

  it('name every page size of the machine, by what the container may have of it', () => {
    const pod = spec({ limits: { 'hugepages-1Gi': '2Gi' } });
    const rules = { ...RULES, hugePageSizes: ['64KB', '2MB', '1GB'] };
    expect(containerResources(pod, first(pod), rules).hugepageLimits).toEqual([
      { pageSize: '64KB', limit: 0 },
      { pageSize: '2MB', limit: 0 },
      { pageSize: '1GB', limit: 2_147_483_648 },
    ]);
  });

  it('tell what running the pod costs apart, and nothing where that is not said', () => {
    const pod = { ...spec({ limits: { memory: '1Mi' } }), overhead: { cpu: '50m', memory: '8Mi' } };
    expect(overheadResources(pod, RULES)).toEqual({
      cpuPeriod: 100_000,
      cpuQuota: 5_000,
      cpuShares: 51,
      memoryLimitInBytes: 8_388_608,
    });
    expect(sandboxResources(pod, RULES)).toMatchObject({ memoryLimitInBytes: 1_048_576 });
    expect(overheadResources(spec({}), RULES)).toEqual({});
  });

  it('never leave the bounds of the kernel', () => {
    const milli = fc.option(fc.nat({ max: 2_000_000 }), { nil: undefined });
    fc.assert(
      fc.property(milli, milli, fc.integer({ min: 1_000, max: 1_000_000 }), (request, limit, period) => {
        const pod = spec({
          ...(request === undefined ? {} : { requests: { cpu: `${request}m` } }),
          ...(limit === undefined ? {} : { limits: { cpu: `${limit}m` } }),
        });
        const { cpuShares, cpuQuota } = sandboxResources(pod, { ...RULES, cpuPeriodMicroseconds: period });
        expect(cpuShares).toBeGreaterThanOrEqual(2);
        expect(cpuShares).toBeLessThanOrEqual(262_144);
        expect(Number.isInteger(cpuShares)).toBe(true);
        if (!limit) expect(cpuQuota).toBeUndefined();
        else expect(cpuQuota).toBeGreaterThanOrEqual(1_000);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
