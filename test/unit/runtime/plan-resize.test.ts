import { describe, expect, it } from 'vitest';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Container, Pod, PodStatus } from '../../../src/model/pod.ts';
import { planPod, type PodPlan } from '../../../src/runtime/plan-pod.ts';
import { container, observed, pod, sandbox, wanted } from '../../marbles/fakes.ts';

const SEEN = observed({ sandboxes: [sandbox()], containers: [container()] });
const BURSTABLE: PodStatus = { qosClass: 'Burstable', startTime: '2026-01-01T00:00:00Z' };

function asking(requests: Readonly<Record<string, string>>, more: Partial<Container> = {}): Pod {
  return pod({ spec: { containers: [wanted('main', { resources: { requests }, ...more })] } });
}

function plan(of: Pod, memory: PodMemory, status: PodStatus = BURSTABLE): PodPlan {
  return planPod(of, SEEN, memory, 1_000, { initial: 1, ceiling: 1 }, { probes: new Map(), status });
}

/** What a running pod leaves in memory once it was looked at. */
function settled(of: Pod): PodMemory {
  return plan(of, NO_MEMORY).memory;
}

const what = (of: PodPlan): readonly string[] => of.steps.map((step) => step.do);

describe('planPod, when the amounts of a running container change', () => {
  it('takes what a container that it meets runs with for what the manifest says', () => {
    expect(what(plan(asking({ cpu: '100m' }), NO_MEMORY))).toEqual([]);
    expect([...settled(asking({ cpu: '100m' })).resources.keys()]).toEqual(['main']);
  });

  it('changes cpu and memory in the running container, once', () => {
    const next = plan(asking({ cpu: '200m' }), settled(asking({ cpu: '100m' })));
    expect(what(next)).toEqual(['resizeContainer']);
    expect(what(plan(asking({ cpu: '200m' }), next.memory))).toEqual([]);
  });

  it('restarts the container where its resizePolicy asks for that', () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const before = settled(asking({ cpu: '1', memory: '1Mi' }, { resizePolicy }));
    expect(what(plan(asking({ cpu: '2', memory: '1Mi' }, { resizePolicy }), before))).toEqual(['resizeContainer']);
    expect(what(plan(asking({ cpu: '1', memory: '2Mi' }, { resizePolicy }), before))).toEqual([
      'stopContainer',
      'startContainer',
    ]);
  });

  it('leaves the container alone where the change would give the pod another QoS class', () => {
    const before = settled(asking({ cpu: '100m' }));
    expect(what(plan(asking({}), before))).toEqual([]);
  });

  it('keeps the very same memory as long as nothing changes, so that nothing is written', () => {
    const before = settled(asking({ cpu: '100m' }));
    expect(plan(asking({ cpu: '100m' }), before).memory.resources).toBe(before.resources);
  });
});
