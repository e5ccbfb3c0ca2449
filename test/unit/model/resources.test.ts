import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import { containerResources, oomScoreAdj, sandboxResources, type ResourceRules } from '../../../src/model/resources.ts';

type Resources = NonNullable<Container['resources']>;

/** The machine on which the kubelet was recorded. */
const RULES: ResourceRules = {
  cpuCFSQuota: true,
  cpuPeriodMicroseconds: 100_000,
  memoryCapacity: 24 * 1024 ** 3,
  hugePageSizes: ['2MB'],
  cgroupV2: false,
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

  it('adds up over the containers, leaving out what a container leaves open', () => {
    const pod = spec(
      { limits: { cpu: '100m', memory: '1Ki' } },
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

  it('take the limit of cpu for the request where there is none', () => {
    const pod = spec({ limits: { cpu: '2' } });
    expect(containerResources(pod, first(pod), RULES)).toMatchObject({ cpuShares: 2_048, cpuQuota: 200_000 });
  });

  it('say nothing of quota and period where the node does not use them', () => {
    const pod = spec({ limits: { cpu: '2', memory: '1Mi' } });
    const rules = { ...RULES, cpuCFSQuota: false };
    expect(containerResources(pod, first(pod), rules)).not.toHaveProperty('cpuQuota');
    expect(sandboxResources(pod, rules)).toEqual({ cpuShares: 2_048, memoryLimitInBytes: 1_048_576 });
  });

  it('let the kernel kill a whole container at once on cgroup v2', () => {
    const pod = spec({});
    expect(containerResources(pod, first(pod), { ...RULES, cgroupV2: true }).unified).toEqual({
      'memory.oom.group': '1',
    });
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

describe('oomScoreAdj', () => {
  it.each<[string, PodSpec, number]>([
    ['a pod that asks for nothing dies first', spec({}), 1_000],
    ['a guaranteed one last', spec({ limits: { cpu: '1', memory: '1Gi' } }), -997],
    ['a node-critical one too', { ...spec({}), priority: 2_000_001_000 }, -997],
    ['a merely system-critical one does not', { ...spec({}), priority: 2_000_000_000 }, 1_000],
    ['half of the memory gives half of the score', spec({ requests: { memory: '12Gi' } }), 500],
    ['all of the memory still gives more than a guaranteed pod has', spec({ requests: { memory: '24Gi' } }), 3],
    ['no memory gives less than a best-effort pod has', spec({ requests: { cpu: '1' } }), 999],
  ])('%s', (_rule, pod, score) => {
    expect(oomScoreAdj(pod, first(pod), RULES.memoryCapacity)).toBe(score);
  });

  it('falls with the request, and stays between guaranteed and best-effort', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40_000 }), fc.nat({ max: 40_000 }), (a, b) => {
        const score = (mebibytes: number): number => {
          const pod = spec({ requests: { cpu: '1', memory: `${mebibytes}Mi` } });
          return oomScoreAdj(pod, first(pod), RULES.memoryCapacity);
        };
        expect(score(Math.max(a, b))).toBeLessThanOrEqual(score(Math.min(a, b)));
        expect(score(a)).toBeGreaterThanOrEqual(3);
        expect(score(a)).toBeLessThanOrEqual(999);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
