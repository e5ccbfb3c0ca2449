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
  it('add up over the containers', () => {
    expect(podRequests(SPEC)).toEqual({ cpu: '300m', memory: '1Mi' });
    expect(podLimits(SPEC)).toEqual({ cpu: '1' });
  });

  it('add the overhead to what is requested, and to limits where there are some', () => {
    const spec = { ...SPEC, overhead: { cpu: '50m', memory: '1Mi' } };
    expect(podRequests(spec)).toEqual({ cpu: '350m', memory: '2Mi' });
    expect(podLimits(spec)).toEqual({ cpu: '1050m' });
  });

  it('are what the pod says as a whole, of the resources that it can say that of', () => {
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
