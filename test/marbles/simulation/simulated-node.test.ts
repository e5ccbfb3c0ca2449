import {
  concat,
  concatMap,
  defer,
  delay,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  take,
  takeUntil,
  tap,
  timer,
  toArray,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { faultDice, type Fault } from '../../../src/simulation/faults.ts';
import type { NodeState } from '../../../src/simulation/node-state.ts';
import {
  simulatedNode,
  type SimulatedNode,
  type SimulatedNodeOptions,
} from '../../../src/simulation/simulated-node.ts';
import { doubles } from './doubles.ts';
import { containerConfig, ON_THE_NODE, outcome, runPod, sandboxConfig, TEN } from './pods.ts';
import { act, live } from './virtual-time.ts';

function node(options: Partial<SimulatedNodeOptions> = {}): SimulatedNode {
  return simulatedNode({ seed: 1, latencies: TEN, images: ON_THE_NODE, ...options });
}

const stateOf = ({ world }: SimulatedNode) =>
  world.containers().map(({ state, exitCode, reason }) => [state, exitCode, reason]);

describe('a simulated pod', () => {
  it('runs after its sandbox, its container and its start, each in its time', () => {
    const n = node();
    const { times, values } = live(() => runPod(n.cri));
    expect(times).toEqual([30]);
    expect(values[0]?.sandbox).toMatch(/^[0-9a-f]{64}$/);
    expect(values[0]?.container).not.toBe(values[0]?.sandbox);
    expect(stateOf(n)).toEqual([['running', 0, '']]);
    expect(n.world.calls.map(({ name, at, endedAt, outcome }) => [name, at, endedAt, outcome])).toEqual([
      ['RunPodSandbox', 0, 10, 'ok'],
      ['CreateContainer', 10, 20, 'ok'],
      ['StartContainer', 20, 30, 'ok'],
    ]);
  });

  it('is told by the runtime as on the wire, where zero values are absent', () => {
    const n = node();
    const { values } = live(() =>
      runPod(n.cri).pipe(
        mergeMap(({ sandbox, container }) =>
          concat(
            n.cri.podSandboxStatus({ podSandboxId: sandbox }),
            n.cri.containerStatus({ containerId: container }),
            n.cri.listPodSandbox({}),
            n.cri.listContainers({}),
          ),
        ),
      ),
    );
    expect(values).toMatchObject([
      {
        status: {
          metadata: { name: 'pod-u', uid: 'u', namespace: 'default', attempt: undefined },
          state: undefined,
          network: { ip: '10.88.0.2' },
          labels: { 'io.kubernetes.pod.uid': 'u' },
          annotations: { note: 'u' },
        },
        containersStatuses: [{ state: 'CONTAINER_RUNNING' }],
      },
      {
        status: {
          metadata: { name: 'c', attempt: undefined },
          state: 'CONTAINER_RUNNING',
          exitCode: undefined,
          finishedAt: undefined,
          labels: { 'io.kubernetes.container.name': 'c' },
          annotations: undefined,
          logPath: '/var/log/pods/u/c/0.log',
          image: { image: 'web' },
        },
      },
      { items: [{ metadata: { uid: 'u' } }] },
      { containers: [{ metadata: { name: 'c' } }] },
    ]);
    expect(n.world.containers()[0]?.startedAt).toBeGreaterThan(n.world.containers()[0]?.createdAt ?? Infinity);
  });

  it('keeps its name for itself until it is removed', () => {
    const n = node();
    const { values } = live(() =>
      runPod(n.cri).pipe(
        mergeMap(({ sandbox, container }) =>
          concat(
            outcome(n.cri.runPodSandbox({ config: sandboxConfig() })),
            outcome(n.cri.createContainer({ podSandboxId: sandbox, config: containerConfig() })),
            outcome(
              n.cri.createContainer({
                podSandboxId: sandbox,
                config: { ...containerConfig(), metadata: { name: 'c', attempt: 1 } },
              }),
            ),
            outcome(n.cri.removeContainer({ containerId: container })),
            outcome(n.cri.createContainer({ podSandboxId: sandbox, config: containerConfig() })),
          ),
        ),
      ),
    );
    expect(values).toEqual(['refused', 'refused', 'ok', 'ok', 'ok']);
  });

  it('cannot be made of what is not there', () => {
    const n = node();
    const { values } = live(() =>
      n.cri
        .runPodSandbox({ config: sandboxConfig() })
        .pipe(
          mergeMap(({ podSandboxId = '' }) =>
            concat(
              outcome(n.cri.createContainer({ podSandboxId: 'nowhere', config: containerConfig() })),
              outcome(
                n.cri.createContainer({ podSandboxId, config: containerConfig('c', { image: { image: 'far' } }) }),
              ),
              outcome(n.cri.startContainer({ containerId: 'none' })),
              outcome(n.cri.stopContainer({ containerId: 'none', timeout: 1 })),
              outcome(n.cri.containerStatus({ containerId: 'none' })),
              outcome(n.cri.podSandboxStatus({ podSandboxId: 'none' })),
              outcome(n.cri.stopPodSandbox({ podSandboxId: 'none' })),
              outcome(n.cri.removeContainer({ containerId: 'none' })),
              outcome(n.cri.removePodSandbox({ podSandboxId: 'none' })),
            ),
          ),
        ),
    );
    expect(values).toEqual([
      'notFound',
      'notFound',
      'notFound',
      'notFound',
      'notFound',
      'notFound',
      'notFound',
      'ok',
      'ok',
    ]);
  });

  it('loses its processes with its sandbox, and its containers with the sandbox removed', () => {
    const n = node();
    const seen = live(() =>
      runPod(n.cri).pipe(
        mergeMap(({ sandbox }) =>
          concat(
            n.cri.stopPodSandbox({ podSandboxId: sandbox }).pipe(map(() => stateOf(n))),
            n.cri
              .podSandboxStatus({ podSandboxId: sandbox })
              .pipe(map(({ status }) => [status?.state, status?.network?.ip])),
            outcome(n.cri.createContainer({ podSandboxId: sandbox, config: containerConfig('late') })),
            n.cri
              .removePodSandbox({ podSandboxId: sandbox })
              .pipe(map(() => n.world.containers().length + n.world.sandboxes().length)),
          ),
        ),
      ),
    );
    expect(seen.values).toEqual([[['exited', 137, 'Error']], ['SANDBOX_NOTREADY', undefined], 'refused', 0]);
  });

  it('has no address of its own on the network of the node', () => {
    const n = node();
    live(() =>
      n.cri.runPodSandbox({
        config: sandboxConfig('u', { linux: { securityContext: { namespaceOptions: { network: 'NODE' } } } }),
      }),
    );
    expect(n.world.sandboxes()[0]?.ip).toBeUndefined();
  });

  it('needs a network, unless it is on that of the node', () => {
    const n = node();
    n.world.setNetworkReady(false);
    const onHost = sandboxConfig('h', { linux: { securityContext: { namespaceOptions: { network: 'NODE' } } } });
    const { values } = live(() =>
      concat(
        outcome(n.cri.runPodSandbox({ config: sandboxConfig() })),
        outcome(n.cri.runPodSandbox({ config: onHost })),
        n.cri.status().pipe(map(({ status }) => status?.conditions?.map(({ status: isTrue }) => isTrue))),
      ),
    );
    expect(values).toEqual(['refused', 'ok', [true, undefined]]);
  });
});

describe('lists', () => {
  it('can be narrowed by state, label, id and sandbox', () => {
    const n = node({ containerBehaviour: ({ pod }) => (pod.uid === 'b' ? { exits: { after: 1, code: 3 } } : {}) });
    const { values } = live(() =>
      concat(runPod(n.cri, 'a'), runPod(n.cri, 'b'), timer(5)).pipe(
        toArray(),
        mergeMap(() => {
          const [a, b] = n.world.sandboxes();
          n.world.killSandbox(b?.id ?? '');
          const containers = (filter: object) =>
            n.cri
              .listContainers({ filter })
              .pipe(map((answer) => answer.containers?.map((c) => c.podSandboxId === a?.id)));
          const sandboxes = (filter: object) =>
            n.cri.listPodSandbox({ filter }).pipe(map((answer) => answer.items?.map((s) => s.id === a?.id)));
          return concat(
            containers({}),
            containers({ state: { state: 'CONTAINER_RUNNING' } }),
            containers({ state: { state: 'CONTAINER_EXITED' } }),
            containers({ state: {} }),
            containers({ podSandboxId: b?.id }),
            containers({ labelSelector: { 'io.kubernetes.container.name': 'c' } }),
            containers({ labelSelector: { 'io.kubernetes.container.name': 'd' } }),
            sandboxes({}),
            sandboxes({ state: {} }),
            sandboxes({ state: { state: 'SANDBOX_NOTREADY' } }),
            sandboxes({ id: b?.id }),
            sandboxes({ labelSelector: { 'io.kubernetes.pod.uid': 'a' } }),
          );
        }),
      ),
    );
    const [A, B] = [true, false];
    expect(values).toEqual([[A, B], [A], [B], [], [B], [A, B], [], [A, B], [A], [B], [B], [A]]);
  });
});

describe('a process', () => {
  it('ends by itself when its script says so, heard or not', () => {
    const n = node({
      containerBehaviour: () => ({ exits: { after: 500, code: 3 }, terminationMessage: 'out of work' }),
    });
    const config = containerConfig('c', {
      annotations: { 'io.kubernetes.container.terminationMessagePath': '/dev/termination-log' },
      mounts: [{ containerPath: '/dev/termination-log', hostPath: '/pods/u/message' }],
    });
    live(() => runPod(n.cri, 'u', config));
    expect(stateOf(n)).toEqual([['exited', 3, 'Error']]);
    expect(n.world.history.map(({ kind, at, container }) => [container ? 'container' : 'sandbox', kind, at])).toEqual([
      ['sandbox', 'created', 8],
      ['sandbox', 'started', 8],
      ['container', 'created', 18],
      ['container', 'started', 28],
      ['container', 'exited', 528],
    ]);
    expect(n.world.disk.readFile('/pods/u/message')).toBe('out of work');
  });

  it('writes to its log in the form of the CRI while it runs, and not after its end', () => {
    const n = node({
      containerBehaviour: () => ({
        prints: [
          { after: 0, text: 'begins' },
          { after: 1_500, text: 'two\nlines\n', stream: 'stderr' },
          { after: 3_000, text: 'never' },
        ],
        exits: { after: 2_000, code: 0 },
      }),
    });
    live(() => runPod(n.cri, 'u', { ...containerConfig(), logPath: 'c/0.log' }));
    const directory = n.world.sandboxes()[0]?.config.logDirectory ?? '';
    expect(n.world.disk.readFile(`${directory}/c/0.log`)).toBe(
      '1970-01-01T00:00:00.028000000Z stdout F begins\n' +
        '1970-01-01T00:00:01.528000000Z stderr F two\n' +
        '1970-01-01T00:00:01.528000000Z stderr F lines\n',
    );
  });

  it('is told who it is', () => {
    const seen: unknown[] = [];
    const n = node({
      containerBehaviour: ({ name, attempt, pod }) => {
        seen.push([name, attempt, pod]);
        return {};
      },
    });
    live(() => runPod(n.cri, 'u', { ...containerConfig(), metadata: { name: 'c', attempt: 4 } }));
    expect(seen).toEqual([['c', 4, { name: 'pod-u', namespace: 'default', uid: 'u' }]]);
  });

  it.each([
    ['ends politely within its grace', {}, 30, 20, ['exited', 0, 'Completed']],
    ['ends with its own code', { onTerm: { after: 100, code: 7 } }, 30, 110, ['exited', 7, 'Error']],
    ['is killed when it ignores the request', { onTerm: 'ignored' as const }, 30, 30_010, ['exited', 137, 'Error']],
    ['is killed when it takes too long', { onTerm: { after: 5_000, code: 0 } }, 2, 2_010, ['exited', 137, 'Error']],
    ['is killed at once without grace', {}, 0, 10, ['exited', 137, 'Error']],
  ])('%s', (_what, script, timeout, takes, end) => {
    const n = node({ containerBehaviour: () => script });
    const { times } = live(() =>
      runPod(n.cri).pipe(concatMap(({ container }) => n.cri.stopContainer({ containerId: container, timeout }))),
    );
    expect(times).toEqual([30 + takes]);
    expect(stateOf(n)).toEqual([end]);
  });

  it('may be asked to stop when it has ended already, or was never started', () => {
    const n = node({ containerBehaviour: () => ({ exits: { after: 0, code: 0 } }) });
    const { values } = live(() =>
      runPod(n.cri).pipe(
        concatMap(({ sandbox, container }) =>
          concat(
            outcome(n.cri.stopContainer({ containerId: container, timeout: 30 })),
            n.cri
              .createContainer({ podSandboxId: sandbox, config: containerConfig('d') })
              .pipe(concatMap(({ containerId = '' }) => outcome(n.cri.stopContainer({ containerId, timeout: 30 })))),
          ),
        ),
      ),
    );
    expect(values).toEqual(['ok', 'ok']);
    expect(stateOf(n)).toEqual([
      ['exited', 0, 'Completed'],
      ['created', 0, ''],
    ]);
  });

  it('that cannot be started leaves a container that has ended', () => {
    const n = node({ containerBehaviour: () => ({ startError: 'no such program' }) });
    const { error } = live(() => runPod(n.cri));
    expect(error).toMatchObject({ kind: 'refused', message: 'no such program' });
    expect(stateOf(n)).toEqual([['exited', 128, 'StartError']]);
  });

  it('cannot be started twice', () => {
    const n = node();
    const { values } = live(() =>
      runPod(n.cri).pipe(concatMap(({ container }) => outcome(n.cri.startContainer({ containerId: container })))),
    );
    expect(values).toEqual(['refused']);
  });

  it('answers commands beside it, within their timeout', () => {
    const n = node({
      containerBehaviour: () => ({
        exec: ([name]) => (name === 'slow' ? { exitCode: 0, after: 3_000 } : { exitCode: 1, stdout: 'no' }),
      }),
    });
    const { values } = live(() =>
      runPod(n.cri).pipe(
        concatMap(({ container: containerId }) =>
          concat(
            n.cri
              .execSync({ containerId, cmd: ['ask'], timeout: 1 })
              .pipe(map(({ exitCode, stdout }) => [exitCode, new TextDecoder().decode(stdout)])),
            outcome(n.cri.execSync({ containerId, cmd: ['slow'], timeout: 1 })),
            outcome(n.cri.execSync({ containerId, cmd: ['slow'] })),
          ),
        ),
      ),
    );
    expect(values).toEqual([[1, 'no'], 'deadline', 'ok']);
  });

  it('can be ended from outside', () => {
    const n = node();
    live(() =>
      concat(runPod(n.cri, 'a'), runPod(n.cri, 'b')).pipe(
        toArray(),
        map(([a, b]) => {
          n.world.kill(a?.container ?? '');
          n.world.exit(b?.container ?? '', 137, 'OOMKilled');
        }),
      ),
    );
    expect(stateOf(n)).toEqual([
      ['exited', 137, 'Error'],
      ['exited', 137, 'OOMKilled'],
    ]);
    expect(n.world.running()).toEqual([]);
  });
});

describe('images', () => {
  it('are fetched, found by name and by id, and removed', () => {
    const n = node({ images: { far: { pullTime: 1_000, size: 5 }, bad: { pullError: 'manifest unknown' } } });
    const { values, times } = live(() =>
      concat(
        n.cri.imageStatus({ image: { image: 'far' } }).pipe(map(({ image }) => image)),
        outcome(n.cri.pullImage({ image: { image: 'bad' } })),
        n.cri
          .pullImage({ image: { image: 'far' } })
          .pipe(
            concatMap(({ imageRef = '' }) =>
              concat(
                n.cri.imageStatus({ image: { image: imageRef } }).pipe(map(({ image }) => image?.repoTags)),
                n.cri.listImages({}).pipe(map(({ images }) => images?.length)),
                n.cri.imageFsInfo().pipe(map(({ imageFilesystems }) => imageFilesystems?.[0]?.usedBytes?.value)),
                n.cri.removeImage({ image: { image: imageRef } }).pipe(ignoreElements()),
                n.cri.listImages({}).pipe(map(({ images }) => images?.length)),
              ),
            ),
          ),
      ),
    );
    expect(values).toEqual([undefined, 'refused', ['docker.io/library/far:latest'], 1, 5, 0]);
    expect(times[2]).toBe(10 + 10 + 1_010 + 10);
  });
});

describe('the events of the runtime', () => {
  it('tell what happens, with the state of the pod', () => {
    const n = node({ containerBehaviour: () => ({ exits: { after: 5, code: 1 } }) });
    const { values } = live(() =>
      merge(
        n.cri.containerEvents().pipe(
          map(({ containerEventType = 'CONTAINER_CREATED_EVENT', containersStatuses }) => [
            containerEventType.split('_')[1],
            containersStatuses?.map(({ state }) => state),
          ]),
          takeUntil(timer(100)),
        ),
        runPod(n.cri).pipe(ignoreElements()),
      ),
    );
    expect(values).toEqual([
      ['CREATED', []],
      ['STARTED', []],
      ['CREATED', [undefined]],
      ['STARTED', ['CONTAINER_RUNNING']],
      ['STOPPED', ['CONTAINER_EXITED']],
    ]);
  });

  it('are missing where the runtime has none', () => {
    const n = node({ events: false });
    expect(live(() => n.cri.containerEvents()).error).toMatchObject({ kind: 'unimplemented' });
  });

  it('are cut when the runtime goes down', () => {
    const n = node();
    const { error } = live(() =>
      merge(
        n.cri.containerEvents(),
        timer(50).pipe(
          concatMap(() => act(n.world.stopRuntime)),
          ignoreElements(),
        ),
      ),
    );
    expect(error).toMatchObject({ kind: 'unavailable' });
  });
});

describe('the agent', () => {
  it('has changed nothing when it takes back a call before its effect, and all when after', () => {
    const before = node();
    live(() => before.cri.runPodSandbox({ config: sandboxConfig() }).pipe(takeUntil(timer(7))));
    expect(before.world.sandboxes()).toEqual([]);
    expect(before.world.calls[0]).toMatchObject({ outcome: 'cancelled', endedAt: 7 });

    const after = node();
    live(() => after.cri.runPodSandbox({ config: sandboxConfig() }).pipe(takeUntil(timer(9))));
    expect(after.world.sandboxes()).toHaveLength(1);
    expect(after.world.calls[0]).toMatchObject({ outcome: 'cancelled', endedAt: 9 });
  });

  it('takes back only the force when it stops waiting for a container to stop', () => {
    const stubborn = node({ containerBehaviour: () => ({ onTerm: 'ignored' }) });
    const polite = node({ containerBehaviour: () => ({ onTerm: { after: 500, code: 0 } }) });
    for (const n of [stubborn, polite]) {
      live(() =>
        runPod(n.cri).pipe(
          concatMap(({ container }) =>
            n.cri.stopContainer({ containerId: container, timeout: 2 }).pipe(takeUntil(timer(100))),
          ),
        ),
      );
    }
    expect(stateOf(stubborn)).toEqual([['running', 0, '']]);
    expect(stateOf(polite)).toEqual([['exited', 0, 'Completed']]);
  });

  it('finds the node as it was after a crash', () => {
    const n = node({ containerBehaviour: () => ({ exits: { after: 1_000, code: 5 } }) });
    const { values } = live(() =>
      concat(
        runPod(n.cri).pipe(ignoreElements(), takeUntil(timer(35))),
        timer(2_000).pipe(concatMap(() => n.cri.listContainers({}))),
      ),
    );
    expect(values).toMatchObject([{ containers: [{ state: 'CONTAINER_EXITED' }] }]);
  });
});

describe('the runtime', () => {
  it('cuts calls under way and refuses new ones while it is down; containers live on', () => {
    const n = node();
    const { values, times } = live(() =>
      runPod(n.cri).pipe(
        concatMap(() =>
          merge(
            outcome(n.cri.version()),
            timer(5).pipe(
              concatMap(() => act(n.world.stopRuntime)),
              concatMap(() => outcome(n.cri.version())),
              concatMap((told) =>
                concat([told], act(n.world.startRuntime).pipe(ignoreElements()), outcome(n.cri.version())),
              ),
            ),
          ),
        ),
      ),
    );
    expect(values).toEqual(['unavailable', 'unavailable', 'ok']);
    expect(times).toEqual([35, 36, 46]);
    expect(n.world.running()).toHaveLength(1);
  });

  it('remembers after a reboot what ran before, and nothing after it was wiped', () => {
    const n = node();
    live(() => runPod(n.cri).pipe(map(n.world.reboot)));
    expect(stateOf(n)).toEqual([['exited', 255, 'Unknown']]);
    expect(n.world.sandboxes().map(({ state }) => state)).toEqual(['notReady']);
    live(() => act(n.world.wipeRuntime));
    expect([...n.world.sandboxes(), ...n.world.containers()]).toEqual([]);
  });
});

describe('a fault', () => {
  it('can be that a call takes longer, and does what it does all the same', () => {
    const { values, times } = live(() => outcome(node({ faults: () => ({ kind: 'slow', by: 5_000 }) }).cri.version()));
    expect(values).toEqual(['ok']);
    expect(times).toEqual([5_010]); // a call takes 10 ms here
  });

  it('of the first kind makes a call fail without effect', () => {
    const n = node({
      faults: ({ name, nth }) =>
        name === 'RunPodSandbox' && nth === 0 ? { kind: 'fail', message: 'no CNI' } : undefined,
    });
    const { values } = live(() =>
      concat(
        outcome(n.cri.runPodSandbox({ config: sandboxConfig('a') })),
        outcome(n.cri.runPodSandbox({ config: sandboxConfig('a') })),
      ),
    );
    expect(values).toEqual(['refused', 'ok']);
  });

  it('of the second lets a call hang until its deadline, without effect', () => {
    const n = node({ faults: () => ({ kind: 'hang' }) });
    const { values, times } = live(() =>
      merge(
        outcome(n.cri.version()),
        outcome(n.cri.stopContainer({ containerId: 'x', timeout: 30 })),
        outcome(n.cri.runPodSandbox({ config: sandboxConfig() })),
        n.cri.pullImage({ image: { image: 'web' } }).pipe(takeUntil(timer(1e9))),
      ),
    );
    expect(values).toEqual(['deadline', 'deadline', 'deadline']);
    expect(times).toEqual([120_000, 150_000, 240_000]);
    expect(n.world.sandboxes()).toEqual([]);
  });

  it.each<[string, Fault, number]>([
    ['unavailable', { kind: 'loseAnswer' }, 10],
    ['deadline', { kind: 'loseAnswer', error: 'deadline' }, 240_000],
  ])('of the third loses the answer (%s), not the effect', (error, fault, at) => {
    const n = node({ faults: ({ name }) => (name === 'RunPodSandbox' ? fault : undefined) });
    const { values, times } = live(() => outcome(n.cri.runPodSandbox({ config: sandboxConfig() })));
    expect(values).toEqual([error]);
    expect(times).toEqual([at]);
    expect(n.world.sandboxes()).toHaveLength(1);
  });

  it('of the fourth brings an old answer late, after those to later calls', () => {
    const n = node({
      faults: ({ name, nth }) => (name === 'ListPodSandbox' && nth === 0 ? { kind: 'late', by: 50 } : undefined),
    });
    const { values, times } = live(() =>
      merge(
        n.cri.listPodSandbox({}),
        n.cri.runPodSandbox({ config: sandboxConfig() }).pipe(concatMap(() => n.cri.listPodSandbox({}))),
      ).pipe(map(({ items = [] }) => items.length)),
    );
    expect(values).toEqual([1, 0]);
    expect(times).toEqual([20, 60]);
  });

  it('of the fifth takes effect though nobody waits any more, unless the runtime goes down', () => {
    const lingers = (): ReturnType<typeof node> => node({ faults: () => ({ kind: 'linger', by: 1_000 }) });
    const left = lingers();
    live(() =>
      merge(
        left.cri.runPodSandbox({ config: sandboxConfig() }).pipe(takeUntil(timer(100))),
        timer(1_007).pipe(
          tap(() => {
            expect(left.world.sandboxes()).toEqual([]);
          }),
        ),
      ),
    );
    expect(left.world.sandboxes()).toHaveLength(1);
    expect(left.world.calls[0]).toMatchObject({ outcome: 'cancelled', endedAt: 100 });

    const down = lingers();
    live(() =>
      merge(
        outcome(down.cri.runPodSandbox({ config: sandboxConfig() })),
        timer(500).pipe(concatMap(() => act(down.world.stopRuntime))),
      ),
    );
    expect(down.world.sandboxes()).toEqual([]);
  });

  it('of a stream of events cuts it, and no call', () => {
    const n = node();
    const { values } = live(() =>
      merge(
        outcome(n.cri.containerEvents()),
        outcome(n.cri.version()),
        timer(5).pipe(
          concatMap(() => act(n.world.cutEvents)),
          ignoreElements(),
        ),
      ),
    );
    expect(values).toEqual(['unavailable', 'ok']);
  });

  it('of the disk is none of the runtime, and the other way round', () => {
    const n = node();
    n.world.stopRuntime();
    expect(live(() => outcome(n.mounts.below('/'))).values).toEqual(['ok']);
    expect(live(() => outcome(n.cri.version())).values).toEqual(['unavailable']);
  });

  it('by dice strikes at its rate, by the seed of the node', () => {
    const fates = (seed: number): readonly string[] => {
      const n = simulatedNode({ seed, faults: faultDice({ fail: 0.1, hang: 0.05, loseAnswer: 0.05, late: 0.1 }) });
      return live(() => merge(...Array.from({ length: 400 }, () => outcome(n.cri.version())))).values;
    };
    const some = fates(3).filter((fate) => fate !== 'ok').length;
    expect(some).toBeGreaterThan(50);
    expect(some).toBeLessThan(110);
    expect(fates(3)).toEqual(fates(3));
    expect(fates(4)).not.toEqual(fates(3));
  });

  it('by dice never leaves a call to the disk without an end', () => {
    const n = simulatedNode({ seed: 3, faults: faultDice({ hang: 0.5, loseAnswer: 0.5 }) });
    const { times } = live(() => merge(...Array.from({ length: 50 }, () => outcome(n.files.readFile('/x')))));
    expect(times).toHaveLength(50);
  });

  it('on the disk has the code of the operating system, and can be set later', () => {
    const n = node();
    n.world.setFaults(({ name }) =>
      name === 'files.makeDir' ? { kind: 'fail', code: 'ENOSPC', message: 'full' } : undefined,
    );
    expect(live(() => n.files.makeDir('/a', 0o755)).error).toMatchObject({ code: 'ENOSPC' });
    n.world.setFaults(() => undefined);
    expect(live(() => n.files.makeDir('/a', 0o755)).values).toEqual([undefined]);
    expect(n.world.disk.typeOf('/a')).toBe('directory');
  });
});

describe('the history', () => {
  it('shows processes that ran side by side and should not have', () => {
    const apart = node();
    live(() => concat(runPod(apart.cri, 'a'), runPod(apart.cri, 'b')));
    expect(doubles(apart.world)).toEqual([]);

    const doubled = node();
    const second = containerConfig('c', { metadata: { name: 'c', attempt: 1 } });
    live(() =>
      runPod(doubled.cri).pipe(
        concatMap(({ sandbox }) => doubled.cri.createContainer({ podSandboxId: sandbox, config: second })),
        concatMap(({ containerId = '' }) => doubled.cri.startContainer({ containerId })),
      ),
    );
    expect(doubles(doubled.world)).toEqual(['2 times the container c of pod-u at 48 ms']);
  });
});

describe('equal seeds', () => {
  function life(seed: number): unknown {
    const n = simulatedNode({
      seed,
      images: ON_THE_NODE,
      containerBehaviour: ({ pod }) => (pod.uid === 'b' ? { exits: { after: 100, code: 1 } } : {}),
      faults: (_call, random) => (random() < 0.2 ? { kind: 'fail' } : undefined),
    });
    live(() =>
      merge(...['a', 'b', 'c', 'd'].map((uid) => outcome(runPod(n.cri, uid)).pipe(delay(3)))).pipe(
        concatMap(() => EMPTY),
      ),
    );
    return { calls: n.world.calls, history: n.world.history };
  }

  it('give equal lives, and others give others', () => {
    expect(life(7)).toEqual(life(7));
    expect(life(8)).not.toEqual(life(7));
  });
});

describe('a runtime that takes over from another', () => {
  it('has what that had, lets its processes go on from where they are, and gives nobody an id that was given', () => {
    const options = { containerBehaviour: () => ({ exits: { after: 5_000, code: 3 } }) };
    const first = node(options);
    const { times } = live(() => {
      const second$ = defer(() => {
        const from: unknown = JSON.parse(JSON.stringify(first.world.state()));
        const second = node({ ...options, from: from as NodeState });
        expect(second.world.containers()).toEqual(first.world.containers());
        expect(second.world.state().images).toEqual(first.world.state().images);
        return merge(second.world.happening$, runPod(second.cri, 'v').pipe(ignoreElements())).pipe(
          filter(({ kind, sandbox }) => kind === 'exited' && sandbox.config.metadata?.uid === 'u'),
          take(1),
          tap(({ container }) => {
            expect(container).toMatchObject({ exitCode: 3 });
            const ids = second.world.containers().map(({ id }) => id);
            expect(new Set(ids).size).toBe(2);
            expect(second.world.sandboxes().map(({ ip }) => ip)).toEqual(['10.88.0.2', '10.88.0.3']);
          }),
        );
      });
      return runPod(first.cri, 'u').pipe(
        delay(1_000),
        concatMap(() => second$),
      );
    });
    expect(times).toEqual([5_028]);
  });

  it('tells of every change that it has to remember', () => {
    const n = node();
    const { values } = live(() => {
      const calls$ = runPod(n.cri).pipe(
        concatMap(({ container: containerId }) =>
          concat(
            n.cri.pullImage({ image: { image: 'other' } }),
            n.cri.updateContainerResources({ containerId, linux: { cpuShares: 2 } }),
            n.cri.listContainers({}),
            n.cri.removeImage({ image: { image: 'other' } }),
          ),
        ),
      );
      return merge(n.world.change$.pipe(map(() => 'change')), calls$.pipe(ignoreElements())).pipe(take(7));
    });
    // A sandbox that is made and runs, a container that is made and runs, an image, an update, an image.
    expect(values).toEqual(Array.from({ length: 7 }, () => 'change'));
  });

  it('forgets calls that are over, where it is to live long', () => {
    const n = node({ remembers: false });
    live(() => runPod(n.cri));
    expect(n.world.calls).toEqual([]);
    expect(n.world.history).toEqual([]);
    expect(stateOf(n)).toEqual([['running', 0, '']]);
  });
});
