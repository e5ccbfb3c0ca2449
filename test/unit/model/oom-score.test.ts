import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oomScoreAdj } from '../../../src/model/oom-score.ts';
import type { Container, PodSpec } from '../../../src/model/pod.ts';

type Resources = NonNullable<Container['resources']>;

const MEMORY = 24 * 1024 ** 3;

function spec(...resources: readonly Resources[]): PodSpec {
  return { containers: resources.map((given, n) => ({ name: `c${n}`, resources: given })) };
}

function first({ containers }: PodSpec): Container {
  const [container] = containers;
  if (!container) throw new Error('a pod has a container');
  return container;
}

describe('oomScoreAdj', () => {
  it.each<[string, PodSpec, number]>([
    ['a BestEffort pod has 1000', spec({}), 1_000],
    ['a Guaranteed pod has -997', spec({ limits: { cpu: '1', memory: '1Gi' } }), -997],
    ['a node-critical pod has -997, whatever it asks for', { ...spec({}), priority: 2_000_001_000 }, -997],
    [
      'a pod of the class system-node-critical has -997 without a priority',
      { ...spec({}), priorityClassName: 'system-node-critical' },
      -997,
    ],
    ['a system-critical pod goes by its QoS class', { ...spec({}), priority: 2_000_000_000 }, 1_000],
    [
      'a Burstable pod has 1000 less the share of memory that it requests, in thousandths',
      spec({ requests: { memory: '12Gi' } }),
      500,
    ],
    ['a Burstable pod has no less than 3', spec({ requests: { memory: '24Gi' } }), 3],
    ['a Burstable pod has no more than 999', spec({ requests: { cpu: '1' } }), 999],
  ])('%s', (_rule, pod, score) => {
    expect(oomScoreAdj(pod, first(pod), MEMORY)).toBe(score);
  });

  it('falls with the request, and stays between guaranteed and best-effort', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40_000 }), fc.nat({ max: 40_000 }), (a, b) => {
        const score = (mebibytes: number): number => {
          const pod = spec({ requests: { cpu: '1', memory: `${mebibytes}Mi` } });
          return oomScoreAdj(pod, first(pod), MEMORY);
        };
        expect(score(Math.max(a, b))).toBeLessThanOrEqual(score(Math.min(a, b)));
        expect(score(a)).toBeGreaterThanOrEqual(3);
        expect(score(a)).toBeLessThanOrEqual(999);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('gives a sidecar no more than the regular container has that requests least memory', () => {
    const side: Container = { name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } };
    const pod = { ...spec({ requests: { memory: '12Gi' } }, { requests: { memory: '6Gi' } }), initContainers: [side] };
    expect(oomScoreAdj(pod, side, MEMORY)).toBe(750);
    expect(oomScoreAdj(pod, { ...side, resources: { requests: { memory: '18Gi' } } }, MEMORY)).toBe(250);
  });

  it('spreads over the containers what the pod as a whole asks for beyond them', () => {
    const pod = {
      ...spec({ requests: { memory: '6Gi' } }, {}),
      resources: { requests: { memory: '12Gi' }, limits: { memory: '18Gi' } },
    };
    expect(pod.containers.map((container) => oomScoreAdj(pod, container, MEMORY))).toEqual([625, 875]);
  });
});
