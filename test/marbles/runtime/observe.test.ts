import { NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container, ContainerStatus, PodSandbox } from '../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { ObservedPod, Snapshot } from '../../../src/model/observed.ts';
import { observer, type Observer } from '../../../src/runtime/observe.ts';
import { revisions } from '../../../src/streams/pleg/revisions.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import { fakeCri, fakeFiles, UID } from '../fakes.ts';
import { marbles } from '../harness.ts';
import { unexpected } from '../operators/unexpected.ts';

const labels = (uid: string = UID) => ({
  'io.kubernetes.pod.uid': uid,
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.container.name': 'main',
});

/** What the runtime holds; tests change it as they go. */
interface Held {
  sandboxes: readonly PodSandbox[];
  containers: readonly Container[];
  statuses: Readonly<Record<string, ContainerStatus>>;
}

function held(state: Container['state'] = 'CONTAINER_RUNNING'): Held {
  return {
    sandboxes: [{ id: 's', metadata: { attempt: 0 }, labels: labels(), createdAt: 1 }],
    containers: [{ id: 'c', podSandboxId: 's', metadata: { name: 'main' }, labels: labels(), state, createdAt: 2 }],
    statuses: { c: { state } },
  };
}

function look(
  world: Held,
  answers: Partial<Cri> = {},
  hostIps: readonly string[] = [],
): { readonly observer: Observer; readonly log: string[] } {
  const log: string[] = [];
  const cri = fakeCri(log, {
    listPodSandbox: () => of({ items: world.sandboxes }),
    listContainers: () => of({ containers: world.containers }),
    containerStatus: ({ containerId = '' }) => of({ status: world.statuses[containerId] }),
    ...answers,
  });
  return { observer: observer(cri, fakeFiles(log), revisions(), hostIps), log };
}

function valueOf<T>(one$: Observable<T>): T {
  const values: T[] = [];
  one$.subscribe({ next: (value) => values.push(value), error: unexpected });
  const [value] = values;
  if (value === undefined) throw new Error('nothing was emitted');
  return value;
}

const NOT_FOUND = throwError(() => new RuntimeError('notFound', 'ContainerStatus', 'gone'));

describe('observer', () => {
  it('lists one pod by its label and inspects each of its parts', () => {
    const world = held();
    const requests: unknown[] = [];
    const { observer: eye, log } = look(world, {
      listContainers: (request) => {
        requests.push(request);
        return of({ containers: world.containers });
      },
    });
    expect(valueOf(eye.observePod(UID))).toMatchObject({
      uid: UID,
      name: 'web',
      namespace: 'default',
      revision: 1,
      sandboxes: [{ id: 's', state: 'ready', ips: ['10.0.0.7'], hostNetwork: false }],
      containers: [{ id: 'c', name: 'main', sandboxId: 's', state: 'running', detail: { exitCode: 0 } }],
    });
    expect(requests).toEqual([{ filter: { labelSelector: { 'io.kubernetes.pod.uid': UID } } }]);
    expect(log).toEqual(['listPodSandbox', 'listContainers', 'podSandboxStatus s', 'containerStatus c']);
  });

  it('inspects a container once in each of its states, and a sandbox once', () => {
    const world = held();
    const { observer: eye, log } = look(world);
    const inspections = (): readonly string[] => log.filter((call) => call.includes('Status'));
    valueOf(eye.observePod(UID));
    valueOf(eye.observePod(UID));
    valueOf(eye.listPods());
    valueOf(eye.observePod(UID));
    expect(inspections()).toEqual(['podSandboxStatus s', 'containerStatus c']);

    Object.assign(world, held('CONTAINER_EXITED'), { statuses: { c: { state: 'CONTAINER_EXITED', exitCode: 3 } } });
    for (let n = 0; n < 2; n += 1) {
      expect(valueOf(eye.observePod(UID)).containers[0]).toMatchObject({ state: 'exited', detail: { exitCode: 3 } });
    }
    expect(inspections()).toEqual(['podSandboxStatus s', 'containerStatus c', 'containerStatus c']);
  });

  it('appends what a container says at its end to what the runtime says, with a colon between', () => {
    const annotations = { 'io.kubernetes.container.terminationMessagePath': '/last' };
    const mounts = [{ containerPath: '/last', hostPath: '/host/last' }];
    const messageWith = (message: string, own: string): string | undefined => {
      const status: ContainerStatus = { state: 'CONTAINER_EXITED', exitCode: 1, message, annotations, mounts };
      const cri = fakeCri([], {
        listPodSandbox: () => of({ items: [] }),
        listContainers: () => of({ containers: held('CONTAINER_EXITED').containers }),
        containerStatus: () => of({ status }),
      });
      const files = fakeFiles([], {}, new Map([['/host/last', own]]));
      return valueOf(observer(cri, files, revisions()).observePod(UID)).containers[0]?.detail?.message;
    };
    expect(messageWith('killed', 'oops')).toBe('killed: oops');
    expect(messageWith('', 'oops')).toBe('oops');
    expect(messageWith('killed', '')).toBe('killed');
  });

  it.each<[string, number, Partial<ContainerStatus>, object, boolean]>([
    ['that was heard of before the runtime knew', 0, { exitCode: 1, reason: 'Error' }, { early: true }, true],
    [
      'by a kill a moment ago, which may prove to be for want of memory',
      0,
      { exitCode: 137, reason: 'Error' },
      {},
      true,
    ],
    ['by a kill that is past', 4, { exitCode: 137, reason: 'Error' }, {}, false],
    ['for want of memory', 0, { exitCode: 137, reason: 'OOMKilled' }, {}, false],
    ['by itself', 0, { exitCode: 1, reason: 'Error' }, {}, false],
  ])('looks again at an end only while it may be told otherwise: %s', (_what, secondsAgo, status, more, again) => {
    const world = held('CONTAINER_EXITED');
    const finishedAt = (Date.now() - secondsAgo * 1_000) * 1_000_000;
    const { observer: eye, log } = look(world, {
      containerStatus: () => of({ status: { state: 'CONTAINER_EXITED', finishedAt, ...status }, ...more }),
    });
    for (let n = 0; n < 2; n += 1) {
      expect(valueOf(eye.observePod(UID)).containers[0]).toMatchObject({ state: 'exited', detail: status });
    }
    expect(log.filter((call) => call === 'containerStatus c')).toHaveLength(again ? 2 : 1);
  });

  it('believes the inspection where it is ahead of the list', () => {
    const world = { ...held(), statuses: { c: { state: 'CONTAINER_EXITED', exitCode: 1 } as const } };
    expect(valueOf(look(world).observer.observePod(UID)).containers[0]).toMatchObject({ state: 'exited' });
  });

  it('spares the listing where it is given', () => {
    const { observer: eye, log } = look(held());
    const listed = valueOf(eye.listPods()).pods.get(UID);
    log.length = 0;
    expect(valueOf(eye.observePod(UID, listed)).revision).toBe(1);
    expect(log).toEqual(['podSandboxStatus s', 'containerStatus c']);
  });

  it('takes something that went between its listing and its inspection for not there', () => {
    const { observer: eye } = look(held(), { containerStatus: () => NOT_FOUND, podSandboxStatus: () => NOT_FOUND });
    expect(valueOf(eye.observePod(UID))).toMatchObject({ sandboxes: [], containers: [] });
  });

  it(
    'errors with every other failure',
    marbles(({ expectObservable }) => {
      const error = new RuntimeError('deadline', 'ContainerStatus', 'too late');
      const { observer: eye } = look(held(), { containerStatus: () => throwError(() => error) });
      expectObservable(eye.observePod(UID)).toBe('#', {}, error);
    }),
  );

  it('shows an empty pod where the runtime holds nothing of it', () => {
    const empty: ObservedPod = { uid: UID, name: '', namespace: '', revision: 1, sandboxes: [], containers: [] };
    expect(valueOf(look({ sandboxes: [], containers: [], statuses: {} }).observer.observePod(UID))).toEqual(empty);
  });

  it('reads an absent enum as its first member', () => {
    const world = held();
    delete (world.containers[0] as { state?: unknown }).state;
    world.statuses = { c: {} };
    const { sandboxes, containers } = valueOf(look(world).observer.observePod(UID));
    expect(sandboxes[0]?.state).toBe('ready');
    expect(containers[0]?.state).toBe('created');
  });

  it.each([
    ['CONTAINER_RUNNING', 'running'],
    ['CONTAINER_EXITED', 'exited'],
    ['CONTAINER_UNKNOWN', 'unknown'],
    ['CONTAINER_CREATED', 'created'],
  ] as const)('reads %s as %s', (state, expected) => {
    expect(valueOf(look(held(state)).observer.listPods()).pods.get(UID)?.containers[0]?.state).toBe(expected);
  });

  it('puts the newest first, by attempt before the time of a clock that may have been set back', () => {
    const world = held();
    world.sandboxes = [0, 2, 1].map((attempt) => ({
      id: `s${attempt}`,
      metadata: { attempt },
      labels: labels(),
      createdAt: 10 - attempt,
      state: 'SANDBOX_NOTREADY',
    }));
    expect(valueOf(look(world).observer.observePod(UID)).sandboxes.map(({ id }) => id)).toEqual(['s2', 's1', 's0']);
  });

  it('takes image, digest and user as only an inspection tells them', () => {
    const world = held();
    world.containers = world.containers.map((its) => ({ ...its, image: { image: 'sha256:1' }, imageRef: 'sha256:1' }));
    const image = { image: 'docker.io/library/busybox:1' };
    world.statuses = {
      c: { state: 'CONTAINER_RUNNING', image, imageRef: 'busybox@sha256:2', user: { linux: { uid: 7, gid: 8 } } },
    };
    expect(valueOf(look(world).observer.observePod(UID)).containers[0]?.detail).toMatchObject({
      image: 'docker.io/library/busybox:1',
      imageRef: 'busybox@sha256:2',
      user: { uid: 7, gid: 8, supplementalGroups: [] },
    });
  });

  it('tells all addresses of a pod, and whether they are those of the node', () => {
    const answer = {
      status: {
        network: { ip: '10.0.0.7', additionalIps: [{ ip: 'fd00::7' }, {}] },
        linux: { namespaces: { options: { network: 'NODE' as const } } },
      },
    };
    const { observer: eye } = look(held(), { podSandboxStatus: () => of(answer) });
    expect(valueOf(eye.observePod(UID)).sandboxes[0]).toMatchObject({
      ips: ['10.0.0.7', 'fd00::7'],
      hostNetwork: true,
    });
  });

  it('tells the addresses of a pod in the order of the families of the node', () => {
    const network = { ip: '10.0.0.7', additionalIps: [{ ip: 'fd00::7' }, { ip: '10.1.0.7' }] };
    const { observer: eye } = look(held(), { podSandboxStatus: () => of({ status: { network } }) }, ['2001:db8::2']);
    expect(valueOf(eye.observePod(UID)).sandboxes[0]?.ips).toEqual(['fd00::7', '10.0.0.7']);
  });

  it('groups what it lists by pod, and passes over what is not of Kubernetes', () => {
    const world = held();
    world.containers = [
      ...world.containers,
      { id: 'x', labels: labels('other') },
      { id: 'y' },
      { id: 'z', labels: {} },
    ];
    const { pods, revision }: Snapshot = valueOf(look(world).observer.listPods());
    expect(revision).toBe(1);
    expect([...pods.keys()]).toEqual([UID, 'other']);
  });

  it('draws the revision when the listing is sent, not when it is made', () => {
    const { observer: eye } = look(held());
    const first$ = eye.listPods();
    expect(valueOf(eye.observePod(UID)).revision).toBe(1);
    expect(valueOf(first$).revision).toBe(2);
  });

  describe('knows whose a container or sandbox is', () => {
    it('from a listing or a look, until a listing does not show it any more', () => {
      const world = held();
      const { observer: eye } = look(world);
      expect(eye.ownerOf('c')).toBeUndefined();
      valueOf(eye.listPods());
      expect([eye.ownerOf('c'), eye.ownerOf('s')]).toEqual([UID, UID]);
      world.containers = [];
      valueOf(eye.listPods());
      expect([eye.ownerOf('c'), eye.ownerOf('s')]).toEqual([undefined, UID]);
    });

    it(
      'also where a listing that began before the look ends after it',
      marbles(({ cold, expectObservable, flush }) => {
        const late = cold('---(e|)', { e: { items: [] } });
        let isFirst = true;
        const world = held();
        const { observer: eye } = look(world, {
          listPodSandbox: () => (isFirst ? late : of({ items: world.sandboxes })),
          listContainers: () => of({ containers: isFirst ? [] : world.containers }),
        });
        expectObservable(eye.listPods()).toBe('---(s|)', { s: { revision: 1, pods: new Map() } });
        cold('-(a|)').subscribe({
          next: () => {
            isFirst = false;
            valueOf(eye.observePod(UID));
          },
          error: unexpected,
        });
        flush();
        expect(eye.ownerOf('c')).toBe(UID);
      }),
    );
  });

  it('forgets the inspection of what is gone', () => {
    const world = held();
    const { observer: eye, log } = look(world);
    valueOf(eye.observePod(UID));
    Object.assign(world, { sandboxes: [], containers: [] });
    valueOf(eye.listPods());
    Object.assign(world, held());
    valueOf(eye.observePod(UID));
    expect(log.filter((call) => call === 'containerStatus c').length).toBe(2);
  });

  it(
    'cancels its calls when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const list = cold<never>('-----');
      const { observer: eye } = look(held(), { listPodSandbox: () => list, listContainers: () => NEVER });
      expectObservable(eye.observePod(UID), '^--!').toBe('-');
      expectSubscriptions(list.subscriptions).toBe('^--!');
    }),
  );
});
