import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import { faultDice, type Fault, type Faults } from '../../src/simulation/faults.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, pod, runningPods, starts, type Life } from './harness.ts';
import {
  crashes,
  declared,
  execProbe,
  lives,
  MINUTE,
  podOf,
  ranUids,
  runs,
  SECOND,
  statusOf,
  times,
} from './pod-stories.ts';

/** The first calls of a name meet a fault. */
function firstOf(name: string, fault: Fault, many = 1): Faults {
  return (call) => (call.name === name && call.nth < many ? fault : undefined);
}

const MAKING = ['RunPodSandbox', 'CreateContainer', 'StartContainer'] as const;
const VOLUME = { name: 'm', emptyDir: { medium: 'Memory' } };
const DATA = '/var/lib/rxlet/pods/web/volumes/kubernetes.io~empty-dir/m';
const withData: Pod = podOf('web', {
  volumes: [VOLUME],
  containers: [declared('main', { volumeMounts: [{ name: 'm', mountPath: '/m' }] })],
});

/** One pod from the start on, another from the first minute to the third. */
function comesAndGoes(until = 6 * MINUTE): (life: Life) => void {
  return ({ agent }) => {
    agent(
      folder([0, [pod('web')]], [MINUTE, [pod('web'), pod('guest', { grace: 2 })]], [3 * MINUTE, [pod('web')]]),
      0,
      until,
    );
  };
}

/** The most that ran at one time of what must be there once. */
function mostAtOnce({ history }: World): number {
  const running = new Set<string>();
  let most = 0;
  for (const { kind, container } of history) {
    if (!container) continue;
    if (kind === 'started') running.add(container.id);
    else if (kind !== 'created') running.delete(container.id);
    most = Math.max(most, running.size);
  }
  return most;
}

describe('a call that fails', () => {
  it.each(MAKING)('(%s) costs a pod a moment, and nothing else', (name) => {
    live({ faults: firstOf(name, { kind: 'fail' }) }, comesAndGoes(MINUTE), (world) => {
      expect(runningPods(world)).toEqual(['web/main']);
      expect(starts(world)).toHaveLength(1);
      expect(starts(world)[0]).toBeLessThan(20 * SECOND);
    });
  });

  it.each(['StopContainer', 'StopPodSandbox', 'RemoveContainer', 'RemovePodSandbox'])(
    '(%s) leaves nothing of a removed pod behind',
    (name) => {
      live({ faults: firstOf(name, { kind: 'fail' }, 3) }, comesAndGoes(), (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(world.sandboxes()).toHaveLength(1);
        expect(starts(world)).toHaveLength(2);
      });
    },
  );

  it('(ListContainers) takes no pod for gone', () => {
    live(
      { faults: ({ name }, random) => (name === 'ListContainers' && random() < 0.4 ? { kind: 'fail' } : undefined) },
      comesAndGoes(),
      (world) => {
        expect(lives(world).filter((line) => line.startsWith('started'))).toHaveLength(2);
        expect(runningPods(world)).toEqual(['web/main']);
      },
    );
  });
});

describe('a call that hangs', () => {
  it.each(MAKING)('(%s) holds up its own pod only, which runs once the call is given up', (name) => {
    const held = ({ request }: { readonly request: unknown }): boolean => JSON.stringify(request).includes('"slow');
    live(
      {
        faults: (call) =>
          call.name === name && call.nth < 2 && (name === 'StartContainer' ? call.nth === 0 : held(call))
            ? { kind: 'hang' }
            : undefined,
      },
      ({ agent, at, world }) => {
        agent(folder([0, [pod('slow'), pod('web')]]), 0, 10 * MINUTE);
        at(20 * SECOND, () => {
          expect(world.running()).toHaveLength(1);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['slow/main', 'web/main']);
        expect(starts(world)).toHaveLength(2);
      },
    );
  });
});

describe('a call that times out after it succeeded', () => {
  it.each(MAKING.flatMap((name) => [[name, 'unavailable'] as const, [name, 'deadline'] as const]))(
    '(%s, %s) does nothing twice: what it made is found and used',
    (name, error) => {
      live({ faults: firstOf(name, { kind: 'loseAnswer', error }) }, comesAndGoes(10 * MINUTE), (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(mostAtOnce(world)).toBeLessThanOrEqual(2);
        expect(ranUids(world)).toEqual(expect.arrayContaining(['web', 'guest']));
        expect(starts(world)).toHaveLength(2);
        expect(world.sandboxes()).toHaveLength(1);
      });
    },
  );

  it('(StopContainer) gives a pod its grace once', () => {
    live(
      {
        faults: firstOf('StopContainer', { kind: 'loseAnswer', error: 'deadline' }),
        containerBehaviour: () => ({ onTerm: { after: SECOND, code: 0 } }),
      },
      comesAndGoes(10 * MINUTE),
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(times(world, 'exited', 'main')).toHaveLength(1);
        expect(world.sandboxes()).toHaveLength(1);
      },
    );
  });
});

describe('answers out of order', () => {
  it('never make an old list count more than a newer one: nothing starts twice and nothing that runs is ended', () => {
    live(
      {
        faults: ({ name, nth }) =>
          name.startsWith('List') && nth % 3 === 0 ? { kind: 'late', by: (nth * 37) % 900 } : undefined,
        containerBehaviour: ({ attempt }) => (attempt === 0 ? { exits: { after: 10_000, code: 1 } } : {}),
      },
      comesAndGoes(),
      (world) => {
        expect(lives(world).filter((line) => line.startsWith('started'))).toHaveLength(4);
        expect(runningPods(world)).toEqual(['web/main']);
      },
    );
  });

  it('never make an old look at a pod count more than a newer one: what ended during a slow look starts again', () => {
    const probed = podOf('web', { containers: [declared('main', { startupProbe: execProbe() })] });
    live(
      {
        // The second is sent when the container has just started.
        faults: ({ name, nth }) =>
          name === 'PodSandboxStatus' && nth === 1 ? { kind: 'late', by: 6 * SECOND } : undefined,
        containerBehaviour: ({ attempt }) => (attempt === 0 ? { exits: { after: 3 * SECOND, code: 1 } } : {}),
      },
      runs(5 * MINUTE, [0, [probed]]),
      (world) => {
        expect(lives(world)).toEqual(['started main 0', 'exited main 0', 'started main 1']);
        expect(times(world, 'started', 'main')[1]).toBeLessThan(10 * SECOND);
      },
    );
  });

  it('of calls that were given up and happen all the same leave no second copy', () => {
    live(
      { faults: ({ name }) => (/^(Run|Create|Start)/.test(name) ? { kind: 'linger', by: 700 } : undefined) },
      ({ agent }) => {
        agent(
          folder(
            [0, [pod('web', { uid: 'a' })]],
            [300, [pod('web', { uid: 'b' })]],
            [1_500, [pod('web', { uid: 'c' })]],
          ),
          0,
          5 * MINUTE,
        );
      },
      (world) => {
        expect(mostAtOnce(world)).toBe(1);
        expect(world.running().map(({ config }) => config.labels?.['io.kubernetes.pod.uid'])).toEqual(['c']);
        expect(world.sandboxes()).toHaveLength(1);
      },
    );
  });
});

describe('a stream of events that is cut', () => {
  it('costs a second at most: an exit is still seen and answered', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web')]]), 0, 3 * MINUTE);
        at(MINUTE, () => {
          world.cutEvents();
          world.kill(world.running()[0]?.id ?? '');
        });
        at(2 * MINUTE, () => {
          world.cutEvents();
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
        expect(starts(world)[1]).toBeLessThan(MINUTE + 2 * SECOND);
        expect(world.calls.filter(({ name }) => name === 'GetContainerEvents')).toHaveLength(3);
      },
    );
  });
});

describe('a restart of the runtime', () => {
  it('that keeps its sandboxes touches no container', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [withData]]), 0, 3 * MINUTE);
        at(MINUTE, world.stopRuntime);
        at(MINUTE + 5 * SECOND, world.startRuntime);
      },
      (world) => {
        expect(lives(world)).toEqual(['started main 0']);
      },
    );
  });

  it.each([
    [
      'ends its sandboxes',
      (world: World) => {
        world.reboot();
      },
    ],
    [
      'forgets its sandboxes',
      (world: World) => {
        world.stopRuntime();
        world.wipeRuntime();
        world.startRuntime();
      },
    ],
  ])('that %s brings every pod back, once, with its data', (_what, restart) => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [withData]]), 0, 3 * MINUTE);
        at(MINUTE, () => {
          world.disk.put(`${DATA}/kept`, { type: 'file', mode: 0o644, content: 'data' });
          restart(world);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(starts(world)).toHaveLength(2);
        expect(starts(world)[1]).toBeLessThan(MINUTE + 5 * SECOND);
        expect(world.disk.readFile(`${DATA}/kept`)).toBe('data');
      },
    );
  });
});

describe('a container that ignores SIGTERM', () => {
  it('has its whole grace, and not more', () => {
    live({ containerBehaviour: () => ({ onTerm: 'ignored' }) }, comesAndGoes(), (world) => {
      const [exited = 0] = times(world, 'exited', 'main');
      expect(exited - 3 * MINUTE).toBeGreaterThanOrEqual(2 * SECOND);
      expect(exited - 3 * MINUTE).toBeLessThan(3 * SECOND);
      expect(runningPods(world)).toEqual(['web/main']);
    });
  });
});

describe.each([
  ['full (ENOSPC)', 'full'],
  ['read-only (EROFS)', 'readOnly'],
] as const)('a disk that is %s', (_name, state) => {
  it('ends nothing that runs, lets pods be ended, and starts what waited once it is mended', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(
          folder([0, [pod('web'), pod('old', { grace: 2 })]], [2 * MINUTE, [pod('web'), pod('new')]]),
          0,
          10 * MINUTE,
        );
        at(MINUTE, () => {
          world.disk.setState(state);
        });
        at(3 * MINUTE, () => {
          expect(runningPods(world)).toEqual(['web/main']);
        });
        at(5 * MINUTE, () => {
          world.disk.setState('ok');
        });
        at(5 * MINUTE + 30 * SECOND, () => {
          expect(runningPods(world)).toEqual(['new/main', 'web/main']);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(3);
        expect(world.disk.list('/var/lib/rxlet/pods')).toEqual(['new', 'web']);
      },
    );
  });

  it('lets an agent that starts take over what runs', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [withData]]), 0, MINUTE);
        at(MINUTE + 1, () => {
          world.disk.setState(state);
        });
        agent(folder([0, [withData]]), MINUTE + SECOND, 3 * MINUTE);
      },
      (world) => {
        expect(lives(world)).toEqual(['started main 0']);
      },
    );
  });
});

describe('a clock that jumps', () => {
  it.each([-60 * MINUTE, -5 * SECOND, 60 * MINUTE])('by %i ms cuts no grace short and restarts nothing', (by) => {
    live(
      { containerBehaviour: () => ({ onTerm: 'ignored' }) },
      ({ agent, at, setClock, world }) => {
        agent(folder([0, [pod('web'), pod('guest', { grace: 20 })]], [MINUTE, [pod('web')]]), 0, 5 * MINUTE);
        at(MINUTE + 5 * SECOND, () => {
          setClock(by);
        });
        at(MINUTE + 19 * SECOND, () => {
          expect(runningPods(world)).toEqual(['guest/main', 'web/main']);
        });
        at(MINUTE + 22 * SECOND, () => {
          expect(runningPods(world)).toEqual(['web/main']);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
      },
    );
  });
});

describe('an agent that crashes', () => {
  it('at any moment of a start loses nothing and does nothing twice', () => {
    for (let crash = 5; crash < 700; crash += 41) {
      live({}, crashes(crash, MINUTE, [0, [withData]]), (world) => {
        expect(lives(world)).toEqual(['started main 0']);
        expect(world.sandboxes()).toHaveLength(1);
        expect(statusOf(world, 'web')?.phase).toBe('Running');
      });
    }
  });

  it('at any moment of an end lets the pod end, and its data go after it', () => {
    for (let crash = MINUTE; crash < MINUTE + 4 * SECOND; crash += 210) {
      live(
        { containerBehaviour: () => ({ onTerm: { after: 2 * SECOND, code: 0 } }) },
        ({ agent }) => {
          agent(folder([0, [withData]], [MINUTE, []]), 0, crash);
          agent(folder([0, []]), crash + 50, 10 * MINUTE);
        },
        (world) => {
          expect(lives(world)).toEqual(['started main 0', 'exited main 0']);
          expect(world.sandboxes()).toEqual([]);
          expect([...world.disk.mounts]).toEqual([]);
          expect(world.disk.list('/var/lib/rxlet/pods')).toEqual([]);
        },
      );
    }
  });
});

describe('everything at once, by dice', () => {
  it.each([1, 2, 3])('leaves what is wanted running, and nothing else (seed %i)', (seed) => {
    live(
      { seed, faults: faultDice({ fail: 0.05, slow: 0.05, late: 0.05, linger: 0.03, hang: 0.02, loseAnswer: 0.03 }) },
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web'), pod('old', { grace: 2 })]], [MINUTE, [pod('web'), pod('new')]]), 0, 20 * MINUTE);
        at(3 * MINUTE, () => {
          world.setFaults(() => undefined);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['new/main', 'web/main']);
        expect(world.sandboxes()).toHaveLength(2);
      },
    );
  });
});
