import { describe, expect, it } from 'vitest';
import { aggregateRequests, hasPodLevelResources, podLimits, podRequests } from '../../../src/model/pod-resources.ts';
import type { PodSpec } from '../../../src/model/pod.ts';

const SPEC: PodSpec = {
  containers: [
    { name: 'a', resources: { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '1' } } },
    { name: 'b', resources: { requests: { cpu: '200m' } } },
  ],
};

describe('podRequests and podLimits', () => {
  it('add up over the regular containers', () => {
    expect(podRequests(SPEC)).toEqual({ cpu: '300m', memory: '1Mi' });
    expect(podLimits(SPEC)).toEqual({ cpu: '1' });
  });

  const asking = (name: string, cpu: string, restartPolicy?: string) => ({
    name,
    resources: { requests: { cpu }, limits: { cpu } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });

  it.each<[string, NonNullable<PodSpec['initContainers']>, string]>([
    ['take an init container into account only by what it needs more than all others', [asking('i', '200m')], '300m'],
    [
      'are what the most demanding init container needs, where that is more',
      [asking('i', '1'), asking('j', '400m')],
      '1',
    ],
    ['add sidecars to the regular containers', [asking('s', '100m', 'Always'), asking('t', '50m', 'Always')], '450m'],
    [
      'add to an init container the sidecars before it, and not those after it',
      [asking('s', '100m', 'Always'), asking('i', '400m'), asking('t', '50m', 'Always')],
      '500m',
    ],
  ])('%s', (_rule, initContainers, cpu) => {
    const containers = SPEC.containers.map(({ name, resources }) => {
      const { requests } = resources ?? {};
      return { name, resources: { ...(requests ? { requests, limits: requests } : {}) } };
    });
    expect(podRequests({ containers, initContainers })['cpu']).toBe(cpu);
    expect(podLimits({ containers, initContainers })['cpu']).toBe(cpu);
  });

  it('take every resource by itself: the larger of each', () => {
    const initContainers = [{ name: 'i', resources: { requests: { cpu: '1m', memory: '9Mi' } } }];
    expect(podRequests({ ...SPEC, initContainers })).toEqual({ cpu: '300m', memory: '9Mi' });
  });

  it('add the overhead to requests, and to limits where there are some', () => {
    const spec = { ...SPEC, overhead: { cpu: '50m', memory: '1Mi' } };
    expect(podRequests(spec)).toEqual({ cpu: '350m', memory: '2Mi' });
    expect(podLimits(spec)).toEqual({ cpu: '1050m' });
  });

  it('are what the pod as a whole says of cpu, memory and huge pages, before what its containers say', () => {
    const resources = { requests: { cpu: '2', 'gold.test/gizmo': '1' }, limits: { memory: '1Gi' } };
    expect(podRequests({ ...SPEC, resources })).toEqual({ cpu: '2', memory: '1Mi' });
    expect(podLimits({ ...SPEC, resources })).toEqual({ cpu: '1', memory: '1Gi' });
    const spec: PodSpec = { ...SPEC, resources };
    expect(aggregateRequests(spec)).toEqual({ cpu: '300m', memory: '1Mi' });
  });
});

describe('hasPodLevelResources', () => {
  it.each([
    [{}, false],
    [{ requests: {} }, false],
    [{ requests: { 'gold.test/gizmo': '1' } }, false],
    [{ limits: { memory: '1Gi' } }, true],
    [{ requests: { cpu: '1' } }, true],
  ])('of %j is %s', (resources, has) => {
    expect(hasPodLevelResources({ ...SPEC, resources })).toBe(has);
  });
});
