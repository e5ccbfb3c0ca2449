import { concat, map, NEVER, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../src/model/desired.ts';
import type { Workload } from '../../src/model/workloads/workload.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { aWorkload } from '../unit/model/workloads/a-workload.ts';
import { live, runningPods } from './harness.ts';

const IMAGES = { 'busybox:1.35': { present: true }, 'busybox:1.36': { present: true } };

/** What the folder says from each time on (milliseconds). */
function said(...script: readonly (readonly [number, readonly Workload[]])[]): Observable<Desired> {
  const steps = script.map(([at, objects], index) =>
    timer(at - (script[index - 1]?.[0] ?? 0)).pipe(
      map((): Desired => ({ source: 'file', pods: [], objects, problems: [] })),
    ),
  );
  return concat(...steps, NEVER);
}

/** When a container started, as `pod image` with its time in whole seconds since the first. */
function startsOf({ history }: World): readonly string[] {
  return history
    .filter(({ kind, container }) => kind === 'started' && container)
    .map(({ at, container }) => {
      const name = container?.config.labels?.['io.kubernetes.pod.name'] ?? '';
      const image = container?.config.image?.userSpecifiedImage ?? '';
      return `${Math.floor(at / 1_000)} ${name} ${image}`;
    });
}

describe('a Deployment', () => {
  it('rolls from one version to the next, and never has fewer running than its replicas', () => {
    const of = (image: string): Workload => aWorkload('Deployment', { spec: 'replicas: 2', image });
    const counts: number[] = [];
    live(
      { images: IMAGES, workloads: true },
      ({ agent, at, world }) => {
        agent(said([0, [of('busybox:1.35')]], [60_000, [of('busybox:1.36')]]), 0, 180_000);
        for (let time = 59_000; time < 170_000; time += 10) at(time, () => counts.push(runningPods(world).length));
      },
      (world) => {
        expect(Math.min(...counts)).toBe(2);
        expect(Math.max(...counts)).toBe(3);
        expect(runningPods(world)).toEqual(['web-0-n1/main', 'web-1-n1/main']);
        expect(new Set(world.running().map(({ config }) => config.image?.userSpecifiedImage))).toEqual(
          new Set(['busybox:1.36']),
        );
      },
    );
  });

  it('is found again by a restarted agent, half way through a rollout too', () => {
    const of = (image: string): Workload => aWorkload('Deployment', { spec: 'replicas: 2', image });
    live(
      { images: IMAGES, workloads: true },
      ({ agent }) => {
        agent(said([0, [of('busybox:1.35')]], [60_000, [of('busybox:1.36')]]), 0, 62_000);
        agent(said([0, [of('busybox:1.36')]]), 70_000, 200_000);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web-0-n1/main', 'web-1-n1/main']);
        const perPod = startsOf(world).map((text) => text.slice(text.indexOf(' ')));
        expect(perPod.length).toBe(new Set(perPod).size);
        expect(perPod.filter((text) => text.endsWith('1.36')).length).toBe(3);
      },
    );
  });

  it('goes with its document', () => {
    live(
      { images: IMAGES, workloads: true },
      ({ agent }) => {
        agent(said([0, [aWorkload('Deployment', { spec: 'replicas: 3' })]], [60_000, []]), 0, 120_000);
      },
      (world) => {
        expect(startsOf(world).length).toBe(3);
        expect(world.containers()).toEqual([]);
      },
    );
  });
});

describe('a Job', () => {
  const short =
    (after: number, code = 0) =>
    () => ({ exits: { after, code } });

  it('completes, and stays completed over restarts of the agent', () => {
    const job = aWorkload('Job', { spec: 'completions: 2' });
    live(
      { images: IMAGES, workloads: true, containerBehaviour: short(1_000) },
      ({ agent }) => {
        agent(said([0, [job]]), 0, 60_000);
        agent(said([0, [job]]), 70_000, 200_000);
      },
      (world) => {
        expect(startsOf(world).map((text) => text.split(' ')[1])).toEqual(['web-0-n1', 'web-1-n1']);
        expect(world.running()).toEqual([]);
      },
    );
  });

  it('tries again with growing delays, and gives up at its limit', () => {
    const job = aWorkload('Job', { spec: 'backoffLimit: 2' });
    live(
      { images: IMAGES, workloads: true, containerBehaviour: short(1_000, 1) },
      ({ agent }) => {
        agent(said([0, [job]]), 0, 600_000);
      },
      (world) => {
        const times = world.history
          .filter(({ kind, container }) => kind === 'started' && container)
          .map(({ at }) => at);
        expect(times.length).toBe(3);
        const [first = 0, second = 0, third = 0] = times;
        expect(second - first).toBeGreaterThanOrEqual(10_000);
        expect(second - first).toBeLessThan(14_000);
        expect(third - second).toBeGreaterThanOrEqual(20_000);
        expect(third - second).toBeLessThan(24_000);
      },
    );
  });

  it('goes on where it was when the agent is restarted', () => {
    const job = aWorkload('Job', { spec: 'completions: 3' });
    live(
      { images: IMAGES, workloads: true, containerBehaviour: short(20_000) },
      ({ agent }) => {
        agent(said([0, [job]]), 0, 30_000);
        agent(said([0, [job]]), 90_000, 300_000);
      },
      (world) => {
        expect(startsOf(world).map((text) => text.split(' ')[1])).toEqual(['web-0-n1', 'web-1-n1', 'web-2-n1']);
      },
    );
  });
});
