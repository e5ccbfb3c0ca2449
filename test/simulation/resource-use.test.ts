import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import { folder, live, pod, type Life } from './harness.ts';
import { answers, declared, execProbe, MINUTE, podOf, runs, SECOND } from './pod-stories.ts';

const HOUR = 60 * MINUTE;

/** What people ask for about what an agent takes of its machine, by the number of the ask. */
describe('what an agent takes of its machine', () => {
  it('#70 of an hour with many pods is the same hours later', () => {
    const calls: number[] = [];
    live(
      {
        containerBehaviour: ({ pod: { name } }) =>
          name === 'loop' ? { exits: { after: 0, code: 1 } } : answers(() => 0),
      },
      ({ agent, at, world }) => {
        agent(folder([0, many()]), 0, 4 * HOUR);
        for (let hour = 1; hour < 4; hour++)
          at(hour * HOUR + 30 * SECOND, () => {
            calls.push(world.calls.length);
          });
      },
      () => {
        const [second = 0, third = 0] = perHour(calls);
        // The crash loop starts once in five minutes: now it is one time more, now one less.
        expect(Math.abs(third - second)).toBeLessThan(second * 0.01);
      },
    );
  });

  it.each([
    ['back by a day', -24 * HOUR],
    ['forward by a day', 24 * HOUR],
  ])('#70 does not grow when the clock is set %s', (_how, by) => {
    const calls: number[] = [];
    live(
      { containerBehaviour: () => answers(() => 0) },
      ({ agent, at, setClock, world }) => {
        agent(folder([0, many().slice(1)]), 0, 4 * HOUR);
        at(2 * HOUR, () => {
          setClock(by);
        });
        for (let hour = 1; hour < 4; hour++)
          at(hour * HOUR + 30 * SECOND, () => {
            calls.push(world.calls.length);
          });
      },
      () => {
        const [before = 0, after = 0] = perHour(calls);
        expect(after).toBeLessThan(before * 1.01);
        expect(after).toBeGreaterThan(before * 0.9);
      },
    );
  });

  it('#71 is as before when a thousand pods have come and gone: no cgroup, no file, no container, and no more work', () => {
    const jobs = Array.from({ length: 100 }, (_, batch): readonly [number, readonly Pod[]] => [
      HOUR + batch * 30 * SECOND,
      [
        pod('stays'),
        ...Array.from({ length: 10 }, (_job, n) => podOf(`job-${n}`, { restartPolicy: 'Never' }, `job-${batch}-${n}`)),
      ],
    ]);
    const found: { readonly calls: number; readonly rest: unknown }[] = [];
    live(
      { containerBehaviour: ({ pod: { name } }) => (name === 'stays' ? {} : { exits: { after: 2_000, code: 0 } }) },
      (life) => {
        runs(5 * HOUR, [0, [pod('stays')]], ...jobs, [2 * HOUR, [pod('stays')]])(life);
        for (const hour of [0, 1, 3, 4])
          life.at(Math.max(20 * MINUTE, hour * HOUR - MINUTE), () => {
            found.push({ calls: life.world.calls.length, rest: restOf(life) });
          });
      },
      (world) => {
        const [first, before, after, later] = found;
        expect(world.history.filter(({ kind, container }) => kind === 'started' && container)).toHaveLength(1_001);
        expect(after?.rest).toEqual(before?.rest);
        const atRest = ((before?.calls ?? 0) - (first?.calls ?? 0)) / (39 * MINUTE);
        expect(((later?.calls ?? 0) - (after?.calls ?? 0)) / HOUR).toBeLessThan(atRest * 1.05);
      },
    );
  });

  it('#73 of a node at rest is a look every five seconds, and one more in a minute for each pod', () => {
    const looksIn10Minutes = (howMany: number): readonly string[] => {
      let looks: readonly string[] = [];
      live(
        {},
        ({ agent, at, world }) => {
          agent(folder([0, Array.from({ length: howMany }, (_, n) => pod(`web-${n}`))]), 0, 40 * MINUTE);
          at(20 * MINUTE, () => {
            const { length } = world.calls;
            at(10 * MINUTE, () => {
              looks = world.calls.slice(length).map(({ name }) => name);
            });
          });
        },
        () => undefined,
      );
      expect(new Set(looks)).toEqual(new Set(['Version', 'Status', 'files.list', 'ListPodSandbox', 'ListContainers']));
      return looks.filter((name) => name === 'ListContainers');
    };
    const [one, sixty] = [looksIn10Minutes(1).length, looksIn10Minutes(60).length];
    expect(one).toBeLessThanOrEqual(10 * 12 + 10);
    expect(sixty).toBeLessThanOrEqual(10 * 12 + 10 * 60);
  });
});

/** A crash loop, and six pods that are probed. */
function many(): readonly Pod[] {
  const probed = Array.from({ length: 6 }, (_, n) =>
    podOf(`web-${n}`, {
      containers: [
        declared('main', {
          livenessProbe: execProbe({ periodSeconds: 20 }),
          readinessProbe: execProbe({ periodSeconds: 30 }),
        }),
      ],
    }),
  );
  return [podOf('loop', {}), ...probed];
}

function perHour(counts: readonly number[]): readonly number[] {
  return counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
}

/** What there is on the node: whatever a pod leaves would be among it. */
function restOf({ world }: Life): unknown {
  return {
    containers: world.containers().map(({ config }) => config.metadata?.name),
    sandboxes: world.sandboxes().map(({ config }) => config.metadata?.name),
    mounts: [...world.disk.mounts],
    files: [...world.disk.nodes.keys()].toSorted(),
  };
}
