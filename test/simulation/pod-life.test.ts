import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, pod, runningPods, starts } from './harness.ts';
import {
  answers,
  conditionOf,
  crashes,
  declared,
  execProbe,
  lives,
  MINUTE,
  podOf,
  runs,
  SECOND,
  sidecar,
  statusOf,
  times,
} from './pod-stories.ts';

const HOUR = 60 * MINUTE;
const uids = (world: World): readonly unknown[] =>
  world.running().map(({ config }) => config.labels?.['io.kubernetes.pod.uid']);
const execs = ({ calls }: World): readonly number[] =>
  calls.filter(({ name }) => name === 'ExecSync').map(({ at }) => at);

describe('the life of a pod, in virtual time', () => {
  describe('with init containers and sidecars', () => {
    const job = podOf('job', {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 10,
      initContainers: [declared('fetch'), sidecar('proxy'), declared('migrate'), sidecar('logs')],
    });

    it('starts each in its turn, and ends a job as Succeeded with its sidecars last to first', () => {
      live(
        {
          containerBehaviour: ({ name }) =>
            name === 'main'
              ? { exits: { after: 5_000, code: 0 } }
              : ['fetch', 'migrate'].includes(name)
                ? { exits: { after: 500, code: 0 } }
                : {},
        },
        runs(HOUR, [0, [job]]),
        (world) => {
          expect(lives(world)).toEqual([
            'started fetch 0',
            'exited fetch 0',
            'started proxy 0',
            'started migrate 0',
            'exited migrate 0',
            'started logs 0',
            'started main 0',
            'exited main 0',
            'exited logs 0',
            'exited proxy 0',
          ]);
          const status = statusOf(world, 'job');
          expect(status?.phase).toBe('Succeeded');
          expect(conditionOf(status, 'Initialized')).toBe('True');
          expect(status?.initContainerStatuses?.map(({ name, restartCount }) => `${name} ${restartCount}`)).toEqual([
            'fetch 0',
            'proxy 0',
            'migrate 0',
            'logs 0',
          ]);
          expect(world.sandboxes().map(({ state }) => state)).toEqual(['notReady']);
          const [exited = 0] = times(world, 'exited', 'main');
          expect((times(world, 'exited', 'proxy')[0] ?? Infinity) - exited).toBeLessThan(SECOND);
        },
      );
    });

    it('ends a job as Failed when its main container failed, whatever its sidecars end with', () => {
      live(
        {
          containerBehaviour: ({ name }) =>
            name === 'main'
              ? { exits: { after: 5_000, code: 3 } }
              : { ...(name === 'fetch' || name === 'migrate' ? { exits: { after: 0, code: 0 } } : {}) },
        },
        runs(MINUTE, [0, [job]]),
        (world) => {
          expect(statusOf(world, 'job')?.phase).toBe('Failed');
          expect(world.running()).toEqual([]);
        },
      );
    });

    it('restarts a sidecar of a Never pod, and holds nothing back once the pod runs', () => {
      live(
        {
          containerBehaviour: ({ name }) =>
            name === 'fetch' || name === 'migrate' ? { exits: { after: 0, code: 0 } } : {},
        },
        ({ agent, at, world }) => {
          agent(folder([0, [job]]), 0, 2 * MINUTE);
          at(MINUTE, () => {
            for (const { id, config } of world.running()) if (config.metadata?.name === 'proxy') world.kill(id);
          });
        },
        (world) => {
          expect(runningPods(world)).toEqual(['job/logs', 'job/main', 'job/proxy']);
          expect(starts(world, 'proxy')).toHaveLength(2);
          expect(starts(world, 'migrate')).toHaveLength(1);
          expect((starts(world, 'proxy')[1] ?? Infinity) - MINUTE).toBeLessThan(SECOND);
        },
      );
    });

    it('holds back what follows a sidecar until its startup probe has succeeded', () => {
      const gated = podOf('web', {
        initContainers: [sidecar('proxy', { startupProbe: execProbe({ failureThreshold: 60 }) })],
      });
      live(
        { containerBehaviour: ({ name }) => (name === 'proxy' ? answers((age) => (age >= 10 * SECOND ? 0 : 1)) : {}) },
        ({ agent, at, world }) => {
          agent(folder([0, [gated]]), 0, MINUTE);
          at(9 * SECOND, () => {
            const status = statusOf(world, 'web');
            expect(status?.phase).toBe('Pending');
            expect(status?.initContainerStatuses?.[0]?.started).toBe(false);
          });
        },
        (world) => {
          const [proxy = 0] = starts(world, 'proxy');
          const [main = 0] = starts(world, 'main');
          expect(main - proxy).toBeGreaterThanOrEqual(10 * SECOND);
          expect(main - proxy).toBeLessThan(12 * SECOND);
          expect(statusOf(world, 'web')?.phase).toBe('Running');
          expect(starts(world, 'proxy')).toHaveLength(1);
        },
      );
    });

    it('does all of it, each once and in order, whenever an agent crashes meanwhile', () => {
      for (let crash = 50; crash < 3_000; crash += 61) {
        live(
          {
            containerBehaviour: ({ name }) =>
              name === 'fetch' || name === 'migrate' ? { exits: { after: 100, code: 0 } } : {},
          },
          crashes(crash, MINUTE, [0, [job]]),
          (world) => {
            expect(runningPods(world)).toEqual(['job/logs', 'job/main', 'job/proxy']);
            const started = lives(world).filter((line) => line.startsWith('started'));
            expect(started).toEqual(['fetch', 'proxy', 'migrate', 'logs', 'main'].map((name) => `started ${name} 0`));
            expect(world.sandboxes()).toHaveLength(1);
          },
        );
      }
    });

    it('begins the whole pod anew where a rule asks for it, also when an agent crashes meanwhile', () => {
      const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
      const all = podOf('all', {
        restartPolicy: 'Never',
        initContainers: [declared('init')],
        containers: [declared('main', { restartPolicy: 'Never', restartPolicyRules: rules }), declared('peer')],
      });
      for (let crash = 4_900; crash < 6_000; crash += 37) {
        let mains = 0;
        live(
          {
            containerBehaviour: ({ name }) => {
              if (name === 'init') return { exits: { after: 10, code: 0 } };
              if (name !== 'main') return {};
              mains += 1;
              return mains === 1 ? { exits: { after: 4_500, code: 42 } } : {};
            },
          },
          crashes(crash, MINUTE, [0, [all]]),
          (world) => {
            expect(runningPods(world)).toEqual(['all/main', 'all/peer']);
            expect(starts(world, 'init')).toHaveLength(2);
            expect(starts(world, 'main')).toHaveLength(2);
            expect(times(world, 'exited', 'init')[1]).toBeLessThan(starts(world, 'main')[1] ?? 0);
            expect(world.sandboxes()).toHaveLength(1);
            expect(statusOf(world, 'all')?.phase).toBe('Running');
          },
        );
      }
    });
  });

  describe('with what outlives the agent', () => {
    it('keeps the back-off of a crash loop over a crash of the agent, at whatever time', () => {
      for (const crash of [1.5, 5, 9, 12, 25, 29, 45, 69, 72, 100, 149].map((seconds) => seconds * SECOND)) {
        live(
          { containerBehaviour: () => ({ exits: { after: 0, code: 1 } }) },
          crashes(crash, 320 * SECOND, [0, [pod('crash')]]),
          (world) => {
            const [first = 0, ...later] = starts(world);
            const seconds = later.map((at) => (at - first) / SECOND);
            expect(seconds).toHaveLength(6);
            for (const [index, at] of [0, 10, 30, 70, 150, 310].entries()) {
              expect(seconds[index]).toBeGreaterThanOrEqual(at);
              expect(seconds[index]).toBeLessThanOrEqual(at + 4);
            }
          },
        );
      }
    });

    it('leaves a ready pod ready while agents come and go', () => {
      const web = podOf('web', {
        containers: [declared('main', { readinessProbe: execProbe({ periodSeconds: 10 }), startupProbe: execProbe() })],
      });
      const seen: (string | undefined)[] = [];
      live(
        { containerBehaviour: () => answers(() => 0) },
        ({ agent, at, world }) => {
          agent(folder([0, [web]]), 0, MINUTE);
          agent(folder([0, [web]]), 70 * SECOND, 2 * MINUTE);
          agent(folder([0, [web]]), 2 * MINUTE + 10, 3 * MINUTE);
          for (let time = 30 * SECOND; time < 3 * MINUTE; time += 500) {
            at(time, () => {
              seen.push(conditionOf(statusOf(world, 'web'), 'Ready'));
            });
          }
        },
        (world) => {
          expect(new Set(seen)).toEqual(new Set(['True']));
          expect(starts(world)).toHaveLength(1);
        },
      );
    });

    it('counts the deadline from the start of the pod, not of the agent', () => {
      const brief = podOf('brief', { activeDeadlineSeconds: 30, terminationGracePeriodSeconds: 3 });
      live(
        {},
        ({ agent }) => {
          agent(folder([0, [brief]]), 0, 20 * SECOND);
          agent(folder([0, [brief]]), 21 * SECOND, 10 * MINUTE);
        },
        (world) => {
          const [exited = 0] = times(world, 'exited', 'main');
          expect(exited).toBeGreaterThanOrEqual(30 * SECOND);
          expect(exited).toBeLessThan(31 * SECOND);
          expect(starts(world)).toHaveLength(1);
          expect(world.running()).toEqual([]);
          expect(statusOf(world, 'brief')).toMatchObject({
            phase: 'Failed',
            reason: 'DeadlineExceeded',
            message: 'Pod was active on the node longer than the specified deadline',
          });
        },
      );
    });

    it('does not run a pod again that has ended for good, though the runtime forgot it and the agent is new', () => {
      const job = podOf('job', { restartPolicy: 'Never' });
      live(
        { containerBehaviour: () => ({ exits: { after: 1_000, code: 0 } }) },
        ({ agent, at, world }) => {
          agent(folder([0, [job]]), 0, MINUTE);
          at(MINUTE + SECOND, () => {
            world.wipeRuntime();
          });
          agent(folder([0, [job]]), 2 * MINUTE, 5 * MINUTE);
        },
        (world) => {
          expect(starts(world)).toHaveLength(1);
          expect(statusOf(world, 'job')?.phase).toBe('Succeeded');
        },
      );
    });

    it('runs it again when its manifest was taken away and put back, also under the same uid', () => {
      const job = podOf('job', { restartPolicy: 'Never' });
      live(
        { containerBehaviour: () => ({ exits: { after: 1_000, code: 0 } }) },
        ({ agent }) => {
          agent(folder([0, [job]]), 0, MINUTE);
          agent(folder([0, [job]], [MINUTE, []], [2 * MINUTE, [job]]), 2 * MINUTE, 6 * MINUTE);
        },
        (world) => {
          expect(starts(world)).toHaveLength(2);
          expect(starts(world)[1]).toBeGreaterThan(4 * MINUTE - 1);
          expect(statusOf(world, 'job')?.phase).toBe('Succeeded');
        },
      );
    });

    it('leaves no state behind of a pod that went while no agent ran', () => {
      live(
        {},
        ({ agent, at, world }) => {
          agent(folder([0, [pod('web'), pod('gone')]]), 0, MINUTE);
          at(MINUTE + SECOND, () => {
            world.wipeRuntime();
          });
          agent(folder([0, [pod('web')]]), 2 * MINUTE, 3 * MINUTE);
        },
        (world) => {
          expect(world.disk.list('/var/lib/rxlet/state')).toEqual(['web.json']);
        },
      );
    });
  });

  describe('when its manifest changes', () => {
    const old = pod('web', { uid: 'old', grace: 2 });
    const next = podOf(
      'web',
      { terminationGracePeriodSeconds: 2, containers: [declared('main', { image: 'new:1' })] },
      'next',
    );

    it('keeps the old pod while the image of the new one cannot be fetched, and replaces it when it can', () => {
      live(
        {
          faults: ({ name }) =>
            name === 'PullImage' ? { kind: 'fail', message: 'no route to the registry' } : undefined,
        },
        ({ agent, at, world }) => {
          agent(folder([0, [old]], [MINUTE, [next]]), 0, 10 * MINUTE);
          at(4 * MINUTE, () => {
            expect(uids(world)).toEqual(['old']);
            world.setFaults(() => undefined);
          });
        },
        (world) => {
          expect(world.running().map(({ config }) => config.image?.userSpecifiedImage ?? config.image?.image)).toEqual([
            'new:1',
          ]);
          const [exited = 0] = times(world, 'exited', 'main');
          const [, second = 0] = starts(world, 'main');
          expect(exited).toBeGreaterThan(4 * MINUTE);
          expect(exited).toBeLessThan(7 * MINUTE);
          expect(second - exited).toBeLessThan(SECOND);
          const pulls = world.calls.filter(({ name }) => name === 'PullImage').length;
          expect(pulls).toBeGreaterThan(3);
          expect(pulls).toBeLessThan(12);
        },
      );
    });

    it('keeps the old pod when the edit is taken back before that', () => {
      live(
        { faults: ({ name }) => (name === 'PullImage' ? { kind: 'fail' } : undefined) },
        runs(5 * MINUTE, [0, [old]], [MINUTE, [next]], [2 * MINUTE, [old]]),
        (world) => {
          expect(lives(world)).toEqual(['started main 0']);
          expect(runningPods(world)).toEqual(['web/main']);
        },
      );
    });

    it('ends the old pod at once where the new manifest asks for that', () => {
      const immediate: Pod = {
        ...next,
        metadata: { ...next.metadata, annotations: { 'rxlet.dev/update': 'immediate' } },
      };
      live(
        { faults: ({ name }) => (name === 'PullImage' ? { kind: 'fail' } : undefined) },
        runs(2 * MINUTE, [0, [old]], [MINUTE, [immediate]]),
        (world) => {
          const [exited = Infinity] = times(world, 'exited', 'main');
          expect(exited - MINUTE).toBeLessThan(SECOND);
          expect(world.running()).toEqual([]);
          expect(statusOf(world, 'next')?.containerStatuses?.[0]?.state?.waiting?.reason).toMatch(
            /^(ErrImagePull|ImagePullBackOff)$/,
          );
        },
      );
    });
  });

  describe('with hooks', () => {
    const hooked = podOf('web', {
      terminationGracePeriodSeconds: 6,
      containers: [declared('main', { lifecycle: { preStop: { exec: { command: ['drain'] } } } })],
    });

    it('runs the preStop hook before the signal, within the grace', () => {
      live(
        {
          containerBehaviour: () => ({ onTerm: { after: 500, code: 0 }, exec: () => ({ exitCode: 0, after: 2_500 }) }),
        },
        runs(2 * MINUTE, [0, [hooked]], [MINUTE, []]),
        (world) => {
          expect(execs(world)).toHaveLength(1);
          const stops = world.calls.filter(({ name }) => name === 'StopContainer');
          expect(stops).toHaveLength(1);
          expect(stops[0]?.request).toMatchObject({ timeout: 4 });
          const [exited = 0] = times(world, 'exited', 'main');
          expect(exited - MINUTE).toBeGreaterThan(3_000);
          expect(exited - MINUTE).toBeLessThan(4_000);
        },
      );
    });

    it('ends it all the same, and leaves nothing behind, whenever an agent crashes while a hook runs', () => {
      for (let crash = MINUTE + 1; crash < MINUTE + 9 * SECOND; crash += 397) {
        live(
          { containerBehaviour: () => ({ onTerm: 'ignored', exec: () => ({ exitCode: 0, after: 2_000 }) }) },
          ({ agent }) => {
            agent(folder([0, [hooked]], [MINUTE, []]), 0, crash);
            agent(folder([0, []]), crash + 10, 3 * MINUTE);
          },
          (world) => {
            expect(execs(world).length).toBeGreaterThanOrEqual(1);
            expect(world.containers()).toEqual([]);
            expect(world.sandboxes()).toEqual([]);
            const [exited = Infinity] = times(world, 'exited', 'main');
            expect(exited).toBeLessThanOrEqual(crash + 7 * SECOND);
            expect([...world.disk.nodes.keys()].filter((path) => path.includes('web'))).toEqual([]);
          },
        );
      }
    });

    it('ends a pod whose postStart hook hangs as soon as it is not wanted any more', () => {
      const stuck = podOf('stuck', {
        terminationGracePeriodSeconds: 4,
        containers: [
          declared('main', { lifecycle: { postStart: { exec: { command: ['wait'] } } } }),
          declared('after'),
        ],
      });
      live(
        { containerBehaviour: () => ({ exec: () => ({ exitCode: 0, after: HOUR }) }) },
        runs(2 * MINUTE, [0, [stuck, pod('web')]], [MINUTE, [pod('web')]]),
        (world) => {
          expect(starts(world, 'after')).toEqual([]);
          const [exited = Infinity] = world.history
            .filter(
              ({ kind, container, sandbox }) =>
                kind === 'exited' && container && sandbox.config.metadata?.name === 'stuck',
            )
            .map(({ at }) => at);
          expect(exited - MINUTE).toBeLessThan(SECOND);
          expect(runningPods(world)).toEqual(['web/main']);
          expect(
            world.calls.filter(({ name, outcome }) => name === 'ExecSync' && outcome === 'cancelled'),
          ).toHaveLength(1);
        },
      );
    });

    describe('shows a container as before while its postStart hook goes on, and asks no probe of it', () => {
      const hook = { postStart: { exec: { command: ['hook'] } } };
      const slow = podOf('slow', {
        containers: [declared('main', { lifecycle: hook, readinessProbe: execProbe() }), declared('after')],
      });
      const behaviour = {
        containerBehaviour: () => ({
          exec: (command: readonly string[]) => ({ exitCode: 0, after: command[0] === 'hook' ? 30 * SECOND : 10 }),
        }),
      };
      const checks = (world: World): number =>
        world.calls.filter(({ name, request }) => name === 'ExecSync' && JSON.stringify(request).includes('check'))
          .length;

      it('waits, not ready, until the hook has ended', () => {
        live(behaviour, runs(25 * SECOND, [0, [slow]]), (world) => {
          expect(world.running()).toHaveLength(1);
          const status = statusOf(world, 'slow');
          expect(status?.phase).toBe('Pending');
          const main = status?.containerStatuses?.find(({ name }) => name === 'main');
          expect(main).toMatchObject({
            state: { waiting: { reason: 'ContainerCreating' } },
            ready: false,
            started: false,
          });
          expect(checks(world)).toBe(0);
        });
      });

      it('runs, is probed and ready after that', () => {
        live(behaviour, runs(45 * SECOND, [0, [slow]]), (world) => {
          const status = statusOf(world, 'slow');
          expect(status?.phase).toBe('Running');
          expect(status?.containerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
          expect(checks(world)).toBeGreaterThan(0);
        });
      });
    });

    it('backs off a container whose postStart hook fails', () => {
      const failing = podOf('failing', {
        terminationGracePeriodSeconds: 1,
        containers: [declared('main', { lifecycle: { postStart: { exec: { command: ['false'] } } } })],
      });
      live(
        { containerBehaviour: () => ({ exec: () => ({ exitCode: 8 }) }) },
        runs(35 * SECOND, [0, [failing]]),
        (world) => {
          const [first = 0, ...later] = starts(world);
          expect(later.map((at) => Math.floor((at - first) / SECOND / 5) * 5)).toEqual([0, 10, 30]);
          const [status] = statusOf(world, 'failing')?.containerStatuses ?? [];
          expect(status?.lastState?.terminated ?? status?.state?.terminated).toBeDefined();
          expect(world.running()).toEqual([]);
        },
      );
    });
  });
});
