import { describe, expect, it } from 'vitest';
import type { ListContainersRequest } from '../../src/model/cri/api.ts';
import type { SimulatedCall } from '../../src/simulation/faults.ts';
import { folder, live, pod, runningPods, starts } from './harness.ts';
import { MINUTE, SECOND } from './pod-stories.ts';

const MANY = Array.from({ length: 120 }, (_, n) => pod(`p${n}`, { containers: ['a', 'b'] }));

/** Whether it asks for everything that there is: a relist, not a look at one pod. */
function isRelist({ name, request }: SimulatedCall): boolean {
  return name === 'ListContainers' && (request as ListContainersRequest).filter === undefined;
}

describe('on a runtime that is slow or has much to do', () => {
  it('#29 health names the call that is not answered, while pods go on being served', () => {
    live(
      { faults: (call) => (isRelist(call) && call.nth > 4 ? { kind: 'hang' } : undefined) },
      ({ agent, at, complaint, world }) => {
        agent(folder([0, [pod('web')]], [5 * MINUTE, [pod('web'), pod('new')]]), 0, 20 * MINUTE);
        at(MINUTE, () => {
          expect(complaint()).toBe('');
        });
        at(5 * MINUTE + 2 * SECOND, () => {
          expect(runningPods(world)).toEqual(['new/main', 'web/main']);
        });
        at(6 * MINUTE, () => {
          expect(complaint()).toMatch(/^no relist has succeeded for 180 s: ListContainers: /);
          for (const { id } of world.running()) world.kill(id);
        });
        at(6 * MINUTE + 2 * SECOND, () => {
          expect(runningPods(world)).toEqual(['new/main', 'web/main']);
          world.setFaults(() => undefined);
        });
        at(10 * MINUTE, () => {
          expect(complaint()).toBe('');
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(4);
      },
    );
  });

  it('#29 a pod that cannot be inspected holds up no other', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(
          folder([0, [pod('stuck'), pod('web')]], [2 * MINUTE, [pod('stuck'), pod('web'), pod('new')]]),
          0,
          20 * MINUTE,
        );
        at(MINUTE, () => {
          const stuck = world.running().filter(({ config }) => config.labels?.['io.kubernetes.pod.name'] === 'stuck');
          world.setFaults(({ name, request }) =>
            name === 'ContainerStatus' &&
            stuck.some(({ id }) => id === (request as { containerId?: string }).containerId)
              ? { kind: 'hang' }
              : undefined,
          );
          for (const { id } of world.running()) world.kill(id);
        });
        at(MINUTE + 2 * SECOND, () => {
          expect(runningPods(world)).toEqual(['web/main']);
        });
        at(2 * MINUTE + 2 * SECOND, () => {
          expect(runningPods(world)).toEqual(['new/main', 'web/main']);
        });
        at(5 * MINUTE, () => {
          world.setFaults(() => undefined);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['new/main', 'stuck/main', 'web/main']);
      },
    );
  });

  it('#31 an agent that starts on many pods inspects each container once, a few at a time', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, MANY]), 0, 2 * MINUTE);
        at(2 * MINUTE + SECOND, () => {
          expect(world.running()).toHaveLength(240);
        });
        agent(folder([0, MANY]), 3 * MINUTE, 4 * MINUTE);
      },
      (world) => {
        const inspections = world.calls.filter(({ name, at }) => name === 'ContainerStatus' && at >= 3 * MINUTE);
        expect(inspections).toHaveLength(240);
        expect(mostAtOnce(inspections)).toBeGreaterThan(10);
        expect(mostAtOnce(inspections)).toBeLessThanOrEqual(32);
        expect(starts(world, 'a')).toHaveLength(120);
      },
    );
  });

  it('#31 of many pods only those that changed are inspected', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, MANY]), 0, 5 * MINUTE);
        at(3 * MINUTE, () => {
          for (const { id, config } of world.running())
            if (config.labels?.['io.kubernetes.pod.name'] === 'p7') world.kill(id);
        });
      },
      (world) => {
        const inspections = world.calls.filter(({ name, at }) => name === 'ContainerStatus' && at >= 2 * MINUTE);
        // Two that ended and two that took their place.
        expect(inspections.length).toBeGreaterThanOrEqual(4);
        expect(inspections.length).toBeLessThanOrEqual(6);
        expect(starts(world, 'a')).toHaveLength(121);
      },
    );
  });
});

function mostAtOnce(calls: readonly SimulatedCall[]): number {
  const edges = calls.flatMap(({ at, endedAt = Infinity }) => [
    { at, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  for (const { by } of edges.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
