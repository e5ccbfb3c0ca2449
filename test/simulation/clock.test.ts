import { describe, expect, it } from 'vitest';
import { folder, live, pod, runningPods, starts } from './harness.ts';
import { answers, count, declared, execProbe, MINUTE, podOf, ranUids, SECOND, statusOf } from './pod-stories.ts';

const HOUR = 60 * MINUTE;

/** What people ask of node agents about the clock; the numbers are those of the asks. */
describe.each([
  ['back by an hour', -HOUR],
  ['back by a few seconds', -7 * SECOND],
  ['forward by an hour', HOUR],
])('when the clock is set %s', (_how, by) => {
  it('#35 work on every pod goes on, and nothing is made twice', () => {
    const loop = podOf('loop', {});
    live(
      {
        images: { 'busybox:1.35': { present: true }, 'other:1': {}, 'other:2': {} },
        containerBehaviour: ({ pod: { name } }) => (name === 'loop' ? { exits: { after: 0, code: 1 } } : {}),
      },
      ({ agent, at, setClock, world }) => {
        const edited = [pod('web', { uid: 'b' }), pod('calm'), loop];
        const pulling = ['other:1', 'other:2'].map((image, n) =>
          podOf(`late-${n}`, { containers: [declared('main', { image })] }),
        );
        agent(
          folder(
            [0, [pod('web', { uid: 'a' }), pod('calm'), loop]],
            [MINUTE + 10 * SECOND, edited],
            [2 * MINUTE, [...edited, ...pulling]],
          ),
          0,
          10 * MINUTE,
        );
        // In the middle of a back-off of 40 s.
        at(MINUTE, () => {
          setClock(by);
        });
        at(MINUTE + 15 * SECOND, () => {
          expect(ranUids(world).filter((uid) => uid === 'b')).toHaveLength(1);
          expect(runningPods(world)).toEqual(['calm/main', 'web/main']);
          for (const { id, config } of world.running()) {
            if (config.labels?.['io.kubernetes.pod.name'] === 'calm') world.kill(id);
          }
        });
        at(MINUTE + 20 * SECOND, () => {
          expect(runningPods(world)).toEqual(['calm/main', 'web/main']);
        });
        at(2 * MINUTE + 20 * SECOND, () => {
          expect(runningPods(world)).toEqual(['calm/main', 'late-0/main', 'late-1/main', 'web/main']);
        });
      },
      (world) => {
        const others = ranUids(world).filter((uid) => uid !== 'loop');
        expect(others.toSorted()).toEqual(['a', 'b', 'calm', 'calm', 'late-0', 'late-1']);
        expect(count(world, 'RunPodSandbox')).toBe(6);
        // At 0, 0, 10, 30, 70, 150, 310 s, but for one wait that ends late or early.
        const loops = ranUids(world).filter((uid) => uid === 'loop').length;
        expect(loops).toBeGreaterThanOrEqual(6);
        expect(loops).toBeLessThanOrEqual(9);
        expect(world.calls.filter(({ name, outcome }) => /^(Run|Create|Start)/.test(name) && outcome !== 'ok')).toEqual(
          [],
        );
      },
    );
  });

  it('#50 a probe waits its delay from the start that was seen, and goes on', () => {
    const web = podOf('web', {
      containers: [declared('main', { livenessProbe: execProbe({ initialDelaySeconds: 30, periodSeconds: 10 }) })],
    });
    live(
      { containerBehaviour: () => answers(() => 0) },
      ({ agent, at, setClock, world }) => {
        agent(folder([0, [web]]), 0, 5 * MINUTE);
        at(10 * SECOND, () => {
          setClock(by);
        });
        at(29 * SECOND, () => {
          expect(count(world, 'ExecSync')).toBe(0);
        });
        at(42 * SECOND, () => {
          expect(count(world, 'ExecSync')).toBe(1);
        });
        at(4 * MINUTE + 42 * SECOND, () => {
          expect(count(world, 'ExecSync')).toBe(25);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(1);
        expect(statusOf(world, 'web')?.containerStatuses?.[0]?.restartCount).toBe(0);
      },
    );
  });

  it('#50 so does the probe of an agent that starts after that', () => {
    const web = podOf('web', {
      containers: [declared('main', { readinessProbe: execProbe({ initialDelaySeconds: 30, periodSeconds: 10 }) })],
    });
    live(
      { containerBehaviour: () => answers(() => 0) },
      ({ agent, at, setClock, world }) => {
        agent(folder([0, [web]]), 0, 10 * SECOND);
        at(11 * SECOND, () => {
          setClock(by);
        });
        agent(folder([0, [web]]), 12 * SECOND, 3 * MINUTE);
        at(55 * SECOND, () => {
          expect(statusOf(world, 'web')?.containerStatuses?.[0]?.ready).toBe(true);
        });
      },
      (world) => {
        expect(count(world, 'ExecSync')).toBeGreaterThanOrEqual(12);
        expect(starts(world)).toHaveLength(1);
      },
    );
  });
});
