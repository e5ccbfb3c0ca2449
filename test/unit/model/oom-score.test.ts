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
    ['a pod that asks for nothing dies first', spec({}), 1_000],
    ['a guaranteed one last', spec({ limits: { cpu: '1', memory: '1Gi' } }), -997],
    ['a node-critical one too', { ...spec({}), priority: 2_000_001_000 }, -997],
    ['a merely system-critical one does not', { ...spec({}), priority: 2_000_000_000 }, 1_000],
    ['half of the memory gives half of the score', spec({ requests: { memory: '12Gi' } }), 500],
    ['all of the memory still gives more than a guaranteed pod has', spec({ requests: { memory: '24Gi' } }), 3],
    ['no memory gives less than a best-effort pod has', spec({ requests: { cpu: '1' } }), 999],
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

  it('lets a sidecar die no sooner than those it serves', () => {
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
