import { describe, expect, it } from 'vitest';
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
  ranUids,
  runs,
  SECOND,
  sidecar,
  statusOf,
  times,
} from './pod-stories.ts';

/** What people ask of node agents, by the number of the ask; right is what such an agent should do. */
describe('what people ask for', () => {
  it('#4 a manifest that is removed and put back quickly starts again after the old pod has fully ended', () => {
    live(
      { containerBehaviour: () => ({ onTerm: { after: 3_000, code: 0 } }) },
      runs(2 * MINUTE, [0, [pod('web')]], [MINUTE, []], [MINUTE + 500, [pod('web')]]),
      (world) => {
        expect(lives(world).map((line) => line.split(' ')[0])).toEqual(['started', 'exited', 'started']);
        expect(runningPods(world)).toEqual(['web/main']);
        expect((starts(world)[1] ?? 0) - (times(world, 'exited', 'main')[0] ?? 0)).toBeLessThan(SECOND);
      },
    );
  });

  it('#5 of several quick edits during a termination the last one wins, and starts once', () => {
    const edits = ['b', 'c', 'd'].map((uid, n) => [MINUTE + n * 200, [pod('web', { uid })]] as const);
    live(
      { containerBehaviour: () => ({ onTerm: { after: 5_000, code: 0 } }) },
      runs(3 * MINUTE, [0, [pod('web', { uid: 'a' })]], ...edits),
      (world) => {
        expect(ranUids(world)).toEqual(['a', 'd']);
      },
    );
  });

  it('#5 a pod that has completed is not run again by edits of others, and is replaced by its own', () => {
    const job = (uid: string): ReturnType<typeof pod> => podOf('job', { restartPolicy: 'Never' }, uid);
    live(
      { containerBehaviour: ({ pod: { name } }) => (name === 'job' ? { exits: { after: 100, code: 0 } } : {}) },
      runs(3 * MINUTE, [0, [job('j1')]], [MINUTE, [job('j1'), pod('web')]], [2 * MINUTE, [job('j2'), pod('web')]]),
      (world) => {
        expect(ranUids(world)).toEqual(['j1', 'web', 'j2']);
      },
    );
  });

  it('#7 what is left of the old pod is ended when its manifest changed around a restart of the agent', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web', { uid: 'a' })]]), 0, MINUTE);
        at(MINUTE + 1, () => {
          for (const { id } of world.running()) world.kill(id);
        });
        agent(folder([0, [pod('web', { uid: 'b' })]]), MINUTE + SECOND, 2 * MINUTE);
      },
      (world) => {
        expect(ranUids(world)).toEqual(['a', 'b']);
        expect(world.sandboxes().map(({ config }) => config.metadata?.uid)).toEqual(['b']);
      },
    );
  });

  it('#8 containers of a pod that nobody wants any more are ended when an agent starts', () => {
    live(
      {},
      ({ agent }) => {
        agent(folder([0, [pod('web'), pod('old')]]), 0, MINUTE);
        agent(folder([0, [pod('web')]]), 2 * MINUTE, 3 * MINUTE);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(starts(world)).toHaveLength(2);
      },
    );
  });

  it('#10 there are never two copies of one name, whenever the manifest changes while an agent starts', () => {
    for (let change = 1; change < 900; change += 83) {
      let most = 0;
      live(
        {},
        ({ agent, at, world }) => {
          agent(folder([0, [pod('web', { uid: 'a' })]]), 0, MINUTE);
          agent(
            folder([0, [pod('web', { uid: 'a' })]], [change, [pod('web', { uid: 'b' })]]),
            MINUTE + SECOND,
            2 * MINUTE,
          );
          for (let time = MINUTE; time < MINUTE + 5 * SECOND; time += 10) {
            at(time, () => {
              most = Math.max(most, world.running().length);
            });
          }
        },
        (world) => {
          expect(most).toBe(1);
          expect(world.running().map(({ config }) => config.labels?.['io.kubernetes.pod.uid'])).toEqual(['b']);
        },
      );
    }
  });

  it('#13 a pod with a fixed uid restarts the container whose image changed, and no other', () => {
    const of = (image: string): ReturnType<typeof pod> =>
      podOf('web', { terminationGracePeriodSeconds: 2, containers: [declared('main', { image }), declared('other')] });
    live(
      { images: { 'busybox:1.35': { present: true }, 'busybox:2': { present: true } } },
      runs(2 * MINUTE, [0, [of('busybox:1.35')]], [MINUTE, [of('busybox:2')]]),
      (world) => {
        expect(lives(world)).toEqual(['started main 0', 'started other 0', 'exited main 0', 'started main 1']);
        expect(world.sandboxes()).toHaveLength(1);
        expect(statusOf(world, 'web')?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([1, 0]);
      },
    );
  });

  it('#14 the same content again is no news: nothing restarts, nothing is done', () => {
    live({}, runs(3 * MINUTE, [0, [pod('web')]], [MINUTE, [pod('web')]], [2 * MINUTE, [pod('web')]]), (world) => {
      const changing = world.calls.filter(({ name }) => /^(Run|Create|Start|Stop|Remove)/.test(name));
      expect(changing.map(({ name }) => name)).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
    });
  });

  it('#28 a container that was made and never started, because the agent died in between, is started', () => {
    const job = podOf('job', { restartPolicy: 'OnFailure' });
    for (let crash = 260; crash < 420; crash += 7) {
      live({}, crashes(crash, MINUTE, [0, [job]]), (world) => {
        expect(runningPods(world)).toEqual(['job/main']);
        expect(starts(world)).toHaveLength(1);
        expect(statusOf(world, 'job')?.phase).toBe('Running');
      });
    }
  });

  it('#32 a container that lives for 300 ms is seen, with its exit code', () => {
    const brief = podOf('brief', { restartPolicy: 'Never' });
    live(
      { containerBehaviour: () => ({ exits: { after: 300, code: 7 } }) },
      runs(3 * SECOND, [0, [brief]]),
      (world) => {
        const [status] = statusOf(world, 'brief')?.containerStatuses ?? [];
        expect(status?.state?.terminated).toMatchObject({ exitCode: 7, reason: 'Error' });
        expect(statusOf(world, 'brief')?.phase).toBe('Failed');
      },
    );
  });

  it('#34 an edited pod runs within its grace and a second', () => {
    live(
      { containerBehaviour: ({ pod: { uid } }) => (uid === 'a' ? { onTerm: 'ignored' } : {}) },
      runs(2 * MINUTE, [0, [pod('web', { uid: 'a', grace: 5 })]], [MINUTE, [pod('web', { uid: 'b', grace: 5 })]]),
      (world) => {
        expect((starts(world)[1] ?? Infinity) - MINUTE).toBeLessThan(6 * SECOND);
      },
    );
  });

  it('#38 the first crash is restarted at once, and the wait begins with the second', () => {
    live(
      { containerBehaviour: ({ attempt }) => (attempt < 2 ? { exits: { after: 5_000, code: 1 } } : {}) },
      runs(MINUTE, [0, [pod('crash')]]),
      (world) => {
        const [, second = 0, third = 0] = starts(world);
        const [firstEnd = 0, secondEnd = 0] = times(world, 'exited', 'main');
        expect(second - firstEnd).toBeLessThan(SECOND);
        expect(third - secondEnd).toBeGreaterThanOrEqual(10 * SECOND);
        expect(third - secondEnd).toBeLessThan(11 * SECOND);
      },
    );
  });

  it('#37 a pod may ask for a shorter wait than that of its node', () => {
    const crash = pod('crash');
    const annotations = { 'rxlet.dev/max-container-restart-period': '15s' };
    live(
      { containerBehaviour: () => ({ exits: { after: 0, code: 1 } }) },
      runs(MINUTE, [0, [{ ...crash, metadata: { ...crash.metadata, annotations } }]]),
      (world) => {
        const [first = 0, ...later] = starts(world);
        expect(later.map((at) => Math.floor((at - first) / SECOND))).toEqual([0, 10, 25, 40, 55]);
        const [status] = statusOf(world, 'crash')?.containerStatuses ?? [];
        expect(status?.state?.waiting?.message).toMatch(/^back-off 15s restarting/);
      },
    );
  });

  it('#40 the restart count goes on though somebody removes the dead containers', () => {
    live(
      {},
      ({ agent, at, node, world }) => {
        agent(folder([0, [pod('web')]]), 0, 2 * MINUTE);
        const killAll = (): void => {
          for (const { id } of world.running()) world.kill(id);
        };
        at(10 * SECOND, killAll);
        at(30 * SECOND, () => {
          const dead = world.containers().find(({ state }) => state === 'exited');
          node.cri.removeContainer({ containerId: dead?.id }).subscribe();
        });
        at(40 * SECOND, killAll);
      },
      (world) => {
        expect(lives(world).filter((line) => line.startsWith('started'))).toEqual(
          [0, 1, 2].map((n) => `started main ${n}`),
        );
        expect(statusOf(world, 'web')?.containerStatuses?.[0]?.restartCount).toBe(2);
      },
    );
  });

  it('#41 removing the exited init container does not run it again', () => {
    const web = podOf('web', { initContainers: [declared('init')] });
    live(
      { containerBehaviour: ({ name }) => (name === 'init' ? { exits: { after: 100, code: 0 } } : {}) },
      ({ agent, at, node, world }) => {
        agent(folder([0, [web]]), 0, 3 * MINUTE);
        at(MINUTE, () => {
          const init = world.containers().find(({ config }) => config.metadata?.name === 'init');
          node.cri.removeContainer({ containerId: init?.id }).subscribe();
        });
        at(2 * MINUTE, () => {
          for (const { id } of world.running()) world.kill(id);
        });
      },
      (world) => {
        expect(lives(world)).toEqual([
          'started init 0',
          'exited init 0',
          'started main 0',
          'exited main 0',
          'started main 1',
        ]);
        expect(statusOf(world, 'web')?.phase).toBe('Running');
        expect(statusOf(world, 'web')?.initContainerStatuses?.[0]).toMatchObject({ ready: true });
      },
    );
  });

  it('#43 a main container that crashes after a restart of the agent restarts beside a sidecar with a startup probe', () => {
    const web = podOf('web', {
      initContainers: [sidecar('proxy', { startupProbe: execProbe({ failureThreshold: 30 }) })],
    });
    live(
      { containerBehaviour: ({ name }) => (name === 'proxy' ? answers(() => 0) : {}) },
      ({ agent, at, world }) => {
        agent(folder([0, [web]]), 0, MINUTE);
        agent(folder([0, [web]]), MINUTE + SECOND, 2 * MINUTE);
        at(90 * SECOND, () => {
          const main = world.running().find(({ config }) => config.metadata?.name === 'main');
          if (main) world.kill(main.id);
        });
      },
      (world) => {
        expect(starts(world, 'proxy')).toHaveLength(1);
        expect(starts(world, 'main')).toHaveLength(2);
        expect((starts(world, 'main')[1] ?? Infinity) - 90 * SECOND).toBeLessThan(SECOND);
      },
    );
  });

  it('#44 a sidecar whose image changed is restarted', () => {
    const of = (image: string): ReturnType<typeof pod> =>
      podOf('web', { terminationGracePeriodSeconds: 2, initContainers: [sidecar('proxy', { image })] });
    live(
      { images: { 'busybox:1.35': { present: true }, 'busybox:2': { present: true } } },
      runs(2 * MINUTE, [0, [of('busybox:1.35')]], [MINUTE, [of('busybox:2')]]),
      (world) => {
        expect(lives(world)).toEqual(['started proxy 0', 'started main 0', 'exited proxy 0', 'started proxy 1']);
      },
    );
  });

  it('#46 a sandbox that dies again and again is made anew ever more slowly, and the pod says why', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web')]]), 0, 10 * MINUTE);
        for (let time = 0; time < 10 * MINUTE; time += 50) {
          at(time, () => {
            for (const { id, state } of world.sandboxes()) if (state === 'ready') world.killSandbox(id);
          });
        }
      },
      (world) => {
        const made = world.calls.filter(({ name }) => name === 'RunPodSandbox').length;
        expect(made).toBeGreaterThan(5);
        expect(made).toBeLessThan(25);
        expect(statusOf(world, 'web')?.containerStatuses?.[0]?.state?.waiting?.reason).toBe('CreatePodSandboxError');
      },
    );
  });

  it('#47 a restart of the runtime re-creates nothing', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [podOf('web', { initContainers: [sidecar('proxy')] })]]), 0, 4 * MINUTE);
        at(MINUTE, () => {
          world.stopRuntime();
        });
        at(MINUTE + 20 * SECOND, () => {
          world.startRuntime();
        });
      },
      (world) => {
        expect(lives(world)).toEqual(['started proxy 0', 'started main 0']);
        expect(conditionOf(statusOf(world, 'web'), 'Ready')).toBe('True');
      },
    );
  });

  it('#52 a shorter grace than that of the pod bounds its preStop hook too', () => {
    const web = podOf('web', {
      terminationGracePeriodSeconds: 600,
      containers: [
        declared('main', {
          livenessProbe: execProbe({ terminationGracePeriodSeconds: 3 }),
          lifecycle: { preStop: { exec: { command: ['drain'] } } },
        }),
      ],
    });
    live(
      {
        containerBehaviour: () => ({
          onTerm: 'ignored',
          exec: ([command]) => (command === 'drain' ? { exitCode: 0, after: 60 * MINUTE } : { exitCode: 1 }),
        }),
      },
      runs(MINUTE, [0, [web]]),
      (world) => {
        const [started = 0] = starts(world);
        const [exited = Infinity] = times(world, 'exited', 'main');
        // Three failures, a second apart; the grace; and the least that the runtime is asked for.
        expect(exited - started).toBeLessThan((4 + 3 + 2 + 1) * SECOND);
        expect(exited - started).toBeGreaterThan((2 + 3 + 2) * SECOND);
      },
    );
  });

  it('#53 a preStop hook that does not finish in time does not keep the pod from its end', () => {
    const web = podOf('web', {
      terminationGracePeriodSeconds: 4,
      containers: [declared('main', { lifecycle: { preStop: { exec: { command: ['drain'] } } } })],
    });
    live(
      { containerBehaviour: () => ({ onTerm: 'ignored', exec: () => ({ exitCode: 0, after: 60 * MINUTE }) }) },
      runs(2 * MINUTE, [0, [web]], [MINUTE, []]),
      (world) => {
        const [exited = Infinity] = times(world, 'exited', 'main');
        expect(exited - MINUTE).toBeGreaterThanOrEqual(6 * SECOND);
        expect(exited - MINUTE).toBeLessThan(7 * SECOND);
        expect(world.sandboxes()).toEqual([]);
      },
    );
  });

  it('#55 a container that the runtime cannot stop is tried again for ever, and blocks no other pod', () => {
    live(
      { faults: ({ name }) => (name === 'StopContainer' ? { kind: 'hang' } : undefined) },
      ({ agent, at, world }) => {
        agent(folder([0, [pod('stuck', { grace: 2 })]], [MINUTE, [pod('web')]]), 0, 60 * MINUTE);
        at(2 * MINUTE, () => {
          expect(runningPods(world)).toEqual(['stuck/main', 'web/main']);
        });
        at(30 * MINUTE, () => {
          world.setFaults(() => undefined);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(world.calls.filter(({ name }) => name === 'StopContainer').length).toBeGreaterThan(5);
      },
    );
  });

  it('#56 updates during a long grace obey it once, and the last one wins; so does a removal', () => {
    live(
      { containerBehaviour: ({ pod: { uid } }) => (uid === 'a' ? { onTerm: 'ignored' } : {}) },
      ({ agent }) => {
        const of = (uid: string): ReturnType<typeof pod> => pod('web', { uid, grace: 20 });
        agent(
          folder([0, [of('a')]], [MINUTE, [of('b')]], [MINUTE + 10 * SECOND, [of('c')]], [MINUTE + 15 * SECOND, []]),
          0,
          3 * MINUTE,
        );
      },
      (world) => {
        expect(ranUids(world)).toEqual(['a']);
        const [exited = 0] = times(world, 'exited', 'main');
        expect(Math.round((exited - MINUTE) / SECOND)).toBe(20);
        expect(world.calls.filter(({ name }) => name === 'StopContainer')).toHaveLength(1);
        expect(world.containers()).toEqual([]);
      },
    );
  });

  it('#58 a slow pull holds up no other pod, be its image there or not, and two pods that want it share one pull', () => {
    const of = (name: string, image: string, imagePullPolicy: string): ReturnType<typeof pod> =>
      podOf(name, { containers: [declared('main', { image, imagePullPolicy })] });
    const pods = [
      of('one', 'slow:1', 'IfNotPresent'),
      of('two', 'slow:1', 'IfNotPresent'),
      of('other', 'quick:1', 'IfNotPresent'),
      of('there', 'busybox:1.35', 'Always'),
    ];
    live(
      {
        images: {
          'busybox:1.35': { present: true },
          'slow:1': { pullTime: 20 * MINUTE },
          'quick:1': { pullTime: 500 },
        },
      },
      ({ agent, at, world }) => {
        agent(folder([0, pods]), 0, 30 * MINUTE);
        at(MINUTE, () => {
          expect(runningPods(world)).toEqual(['other/main', 'there/main']);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['one/main', 'other/main', 'there/main', 'two/main']);
        const pulls = world.calls.filter(({ name }) => name === 'PullImage');
        expect(pulls.filter(({ request }) => JSON.stringify(request).includes('slow:1'))).toHaveLength(1);
      },
    );
  });

  it('#59 a pull may take hours, and nothing cuts it', () => {
    const web = podOf('web', { containers: [declared('main', { image: 'huge:1' })] });
    live(
      { images: { 'huge:1': { pullTime: 5 * 60 * MINUTE } } },
      ({ agent }) => {
        agent(folder([0, [web]]), 0, 6 * 60 * MINUTE);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(world.calls.filter(({ name }) => name === 'PullImage')).toHaveLength(1);
      },
    );
  });

  it.each([
    ['Always', 0, 2],
    ['Always', 1, 2],
    ['OnFailure', 0, 1],
    ['OnFailure', 1, 2],
    ['Never', 0, 1],
    ['Never', 1, 1],
  ])('#79 with restartPolicy %s a container that ends once with %i starts %i times', (restartPolicy, code, count) => {
    live(
      { containerBehaviour: ({ attempt }) => (attempt === 0 ? { exits: { after: SECOND, code } } : {}) },
      runs(5 * MINUTE, [0, [pod('job', { restartPolicy })]]),
      (world) => {
        expect(starts(world)).toHaveLength(count);
      },
    );
  });

  it('#83 a pod is ready as long as its readiness probe says so, and is not restarted where it does not', () => {
    const web = podOf('web', { containers: [declared('main', { readinessProbe: execProbe() })] });
    const seen: unknown[] = [];
    live(
      { containerBehaviour: () => answers((age) => (age > 10 * SECOND && age < 30 * SECOND ? 0 : 1)) },
      ({ agent, at, world }) => {
        agent(folder([0, [web]]), 0, MINUTE);
        for (const time of [8, 20, 45]) {
          at(time * SECOND, () => {
            seen.push(conditionOf(statusOf(world, 'web'), 'Ready'));
          });
        }
      },
      (world) => {
        expect(seen).toEqual(['False', 'True', 'False']);
        expect(lives(world)).toEqual(['started main 0']);
      },
    );
  });

  it('#85 of three pods in a file only the one that was edited is made anew', () => {
    const of = (uid: string): readonly ReturnType<typeof pod>[] => [pod('a'), pod('b', { uid, grace: 1 }), pod('c')];
    live({}, runs(2 * MINUTE, [0, of('b1')], [MINUTE, of('b2')]), (world) => {
      expect(ranUids(world).toSorted()).toEqual(['a', 'b1', 'b2', 'c']);
      expect(runningPods(world)).toEqual(['a/main', 'b/main', 'c/main']);
      expect(world.sandboxes()).toHaveLength(3);
    });
  });
});
