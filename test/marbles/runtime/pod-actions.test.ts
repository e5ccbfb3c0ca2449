import { defer, map, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { ObservedPod } from '../../../src/model/observed.ts';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../../src/model/rxlet-annotations.ts';
import type { Observer } from '../../../src/runtime/observe.ts';
import type { PerformContext } from '../../../src/runtime/perform-context.ts';
import { podActions } from '../../../src/runtime/pod-actions.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import type { PodReport, PodWork } from '../../../src/streams/workers/pod-work.ts';
import {
  container,
  context,
  exited,
  fakeCgroups,
  fakeCri,
  fakeFiles,
  fakeMounts,
  fakeVolumeFiles,
  IMAGE,
  observed,
  pod,
  podWith,
  sandbox,
  UID,
  wanted,
} from '../fakes.ts';
import { marbles } from '../harness.ts';
import { unexpected } from '../operators/unexpected.ts';

const IDENTITY = { uid: UID, name: 'web', namespace: 'default' };
const WELL = observed({ revision: 5, sandboxes: [sandbox()], containers: [container()] });
const FOLLOWING = pod({
  metadata: { ...pod().metadata, annotations: { ...pod().metadata.annotations, [RESTART_ON_CONFIG_CHANGE]: 'true' } },
});
const ENDED = observed({ revision: 7, sandboxes: [sandbox({ state: 'notReady' })], containers: [exited(0)] });
const CLEAN_UP: PodWork = { kind: 'cleanUp', uid: UID, of: IDENTITY };

function sync(of: Pod, seen?: ObservedPod): PodWork {
  return { kind: 'sync', uid: UID, pod: of, probes: new Map(), why: 'test', ...(seen ? { observed: seen } : {}) };
}

function terminate(grace = 30, of?: Pod): PodWork {
  return { kind: 'terminate', uid: UID, of: IDENTITY, grace, why: 'the manifest is gone', ...(of ? { pod: of } : {}) };
}

interface World {
  readonly looks?: readonly Observable<ObservedPod>[];
  readonly cri?: Partial<Cri>;
  readonly files?: Partial<Files>;
  readonly more?: Partial<PerformContext>;
  readonly log?: string[];
}

/** Looks at the pod are noted as `look`; each finds the next of `looks`, the last one for good. */
function actions({ looks = [], cri = {}, files = {}, more = {}, log = [] }: World) {
  let looked = 0;
  const observer: Observer = {
    listPods: () => NEVER,
    ownerOf: () => undefined,
    observePod: () => {
      log.push('look');
      return looks[Math.min(looked++, looks.length - 1)] ?? NEVER;
    },
  };
  return podActions(observer, context({ cri: fakeCri(log, cri), files: fakeFiles(log, files), ...more }));
}

/** `n` for a note; an outcome by its first letter: `S`ynced, `E`nded, `C`leaned up, `F`ailed. */
function letters(report$: Observable<PodReport>): Observable<string> {
  return report$.pipe(map((it) => (it.kind === 'outcome' ? (it.outcome.kind[0] ?? '').toUpperCase() : 'n')));
}

function reports(work: PodWork, world: World, memory: PodMemory = NO_MEMORY): readonly PodReport[] {
  const all: PodReport[] = [];
  actions(world)
    .perform(work, memory)
    .subscribe({ next: (report) => all.push(report), error: unexpected });
  return all;
}

/** The last report, which is the outcome. */
function end(work: PodWork, world: World, memory: PodMemory = NO_MEMORY): Extract<PodReport, { kind: 'outcome' }> {
  const last = reports(work, world, memory).at(-1);
  if (last?.kind !== 'outcome') throw new Error('a work ends with its outcome');
  return last;
}

const RUNNING_TWO = observed({
  sandboxes: [sandbox()],
  containers: [container({ name: 'a' }), container({ name: 'b' })],
});
const MADE_TWO = observed({
  sandboxes: [sandbox()],
  containers: [container({ name: 'a', state: 'created' }), container({ name: 'b', state: 'created' })],
});

describe('podActions', () => {
  describe('counts the deadline of a pod', () => {
    const of = pod({ spec: { activeDeadlineSeconds: 60 } });
    const at = (monotonic: number, activeSince: number | undefined, startTime: string) =>
      end(
        { ...sync(of, WELL), status: { phase: 'Running', startTime } } as PodWork,
        { more: { monotonic: () => monotonic } },
        { ...NO_MEMORY, activeSince },
      );
    const [longAgo, now] = ['1970-01-01T00:00:00Z', new Date().toISOString()];

    it(
      'by a clock that does not jump, once it was seen by this agent',
      marbles(() => {
        expect(at(159_000, 100_000, longAgo).outcome).toMatchObject({ kind: 'synced', next: 1_000 });
        expect(at(159_000, 100_000, longAgo).outcome).not.toHaveProperty('verdict');
        expect(at(160_000, 100_000, now).outcome).toMatchObject({ verdict: { reason: 'DeadlineExceeded' } });
      }),
    );

    it('from its start, where an earlier run of the agent has seen that', () => {
      expect(at(5_000, undefined, longAgo).outcome).toMatchObject({ verdict: { reason: 'DeadlineExceeded' } });
      expect(at(5_000, undefined, now).outcome).not.toHaveProperty('verdict');
      expect(at(5_000, undefined, now).memory?.activeSince).toBeLessThanOrEqual(5_000);
    });

    it('and says that it is over before it stops anything', () => {
      const told = reports(sync(of, WELL), { more: { monotonic: () => 60_000 } }, { ...NO_MEMORY, activeSince: 0 });
      expect(told).toMatchObject([
        {
          kind: 'outcome',
          outcome: { kind: 'synced', finished: false, next: 0, verdict: { reason: 'DeadlineExceeded' } },
        },
      ]);
    });
  });

  it(
    'does what the diagrams of its doc comment show',
    marbles(({ cold, expectObservable }) => {
      const idle = cold('         --(o|)', { o: WELL });
      expectObservable(letters(actions({ looks: [idle] }).perform(sync(pod()), NO_MEMORY))).toBe('--(S|)');

      const look1 = cold('        --(o|)', { o: MADE_TWO });
      //            p               ---|
      //            p                  ---|
      const look2 = cold('                --(o|)', { o: RUNNING_TWO });
      const expected = '          -----n--n-(S|)';
      const busy = actions({ looks: [look1, look2], cri: { startContainer: () => cold<undefined>('---|') } });
      expectObservable(letters(busy.perform(sync(pod({ names: ['a', 'b'] })), NO_MEMORY))).toBe(expected);
    }),
  );

  describe('sync', () => {
    it('costs no call when nothing is to be done and the observation is new enough', () => {
      const log: string[] = [];
      const { outcome } = end(sync(pod(), WELL), { log });
      expect(log).toEqual([]);
      expect(outcome).toMatchObject({ kind: 'synced', finished: false, next: 600_000, observed: WELL });
    });

    it.each<[what: string, of: Pod, next: number]>([
      ['that needs nothing, of which all that changes is told, ten times as seldom', pod(), 600_000],
      ['whose volumes have to be tended as often as is configured', podWith([{ name: 'd', downwardAPI: {} }]), 60_000],
      ['that follows a configuration as often as is configured', FOLLOWING, 60_000],
    ])('is to look again at a pod %s', (_what, of, next) => {
      expect(end(sync(of, WELL), {}).outcome).toMatchObject({ kind: 'synced', next });
    });

    it('looks itself when the observation is older than what was done', () => {
      const log: string[] = [];
      const newer = { ...WELL, revision: 9 };
      const { outcome } = end(sync(pod(), WELL), { log, looks: [of(newer)] }, { ...NO_MEMORY, actedAt: 5 });
      expect(log).toEqual(['look']);
      expect(outcome).toMatchObject({ kind: 'synced', observed: newer });
    });

    it('looks once more after it has acted, and remembers up to when', () => {
      const log: string[] = [];
      const empty = observed({ revision: 3 });
      const node = context();
      node.revisions.next();
      const { outcome, memory } = end(sync(pod(), empty), {
        log,
        looks: [of(WELL)],
        more: { revisions: node.revisions },
      });
      expect(log.at(-1)).toBe('look');
      // The work carries an observation as well: it is the last look that counts.
      expect(outcome).toMatchObject({ kind: 'synced', observed: WELL, waiting: new Map(), next: 600_000 });
      expect(memory).toMatchObject({ actedAt: 1, failures: 0 });
    });

    it('comes back at once when one look after acting still asks for something, then ever later', () => {
      const nextAfter = (failures: number): unknown =>
        end(sync(pod(), observed({})), { looks: [of(MADE_TWO)] }, { ...NO_MEMORY, failures }).outcome;
      expect([0, 1, 2, 3, 4, 5, 9].map(nextAfter)).toEqual(
        [0, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].map((next) => expect.objectContaining({ next }) as unknown),
      );
    });

    it('tells which containers could not be started, and comes back after a while', () => {
      const cri: Partial<Cri> = { createContainer: () => throwError(() => new RuntimeError('refused', '', 'no')) };
      const { outcome, memory } = end(sync(pod(), observed({ sandboxes: [sandbox()] })), {
        cri,
        looks: [of(observed({ sandboxes: [sandbox()] }))],
      });
      expect(outcome).toMatchObject({
        kind: 'synced',
        waiting: new Map([['main', { reason: 'CreateContainerError', message: 'no' }]]),
        next: 10_000,
      });
      expect(memory?.failures).toBe(1);
    });

    it(
      'comes back for a pull when its back-off ends, and not over and over for one whose time has passed',
      marbles(({ expectObservable }) => {
        const images: PerformContext['images'] = {
          status: () => of({}),
          pull: () => throwError(() => new Error('404')),
        };
        const inSandbox = observed({ sandboxes: [sandbox()] });
        const next = (of$: Pod, memory: PodMemory): Observable<unknown> =>
          actions({ looks: [of(inSandbox)], more: { images, retryPeriod: 15_000 } })
            .perform(sync(of$, inSandbox), memory)
            .pipe(
              map((it) => (it.kind === 'outcome' && it.outcome.kind === 'synced' ? it.outcome.next : undefined)),
              map((ms) => ms ?? 'n'),
            );
        expectObservable(next(pod(), NO_MEMORY)).toBe('(nnnt|)', { n: 'n', t: 10_000 });

        // Of an image that is in the pod no longer, and of one of which the node cannot tell whether it is there.
        const past = { delay: 10_000, until: -1, error: '' };
        const stale = { ...NO_MEMORY, pulls: new Map([['old:1', past]]) };
        expectObservable(next(pod(), stale)).toBe('(nnnt|)', { n: 'n', t: 10_000 });
        const blind = actions({
          looks: [of(inSandbox)],
          more: { images: { ...images, status: () => throwError(() => new Error('no')) } },
        }).perform(sync(pod(), inSandbox), { ...NO_MEMORY, pulls: new Map([[IMAGE, past]]) });
        expectObservable(
          blind.pipe(map((it) => (it.kind === 'outcome' && 'next' in it.outcome ? it.outcome.next : 'n'))),
        ).toBe('(nnt|)', { n: 'n', t: 10_000 });
      }),
    );

    it(
      'wakes a pod at the very end of the back-off of its container',
      marbles(({ expectObservable }) => {
        const crashed = observed({ sandboxes: [sandbox()], containers: [exited(1, 0)] });
        const key = JSON.stringify([IMAGE, {}]);
        const restarts = new Map([['main', { key, backoff: { delay: 20_000, since: 0 } }]]);
        const work$ = actions({}).perform(sync(pod(), crashed), { ...NO_MEMORY, restarts });
        expectObservable(
          work$.pipe(
            map((it) => {
              if (it.kind === 'note') return it.note.reason;
              if (it.kind === 'starting') return it.container;
              return 'next' in it.outcome ? it.outcome.next : undefined;
            }),
          ),
        ).toBe('(nt|)', { n: 'BackOff', t: 20_000 });
      }),
    );

    it('wakes it not before that end, be it between two milliseconds', () => {
      const crashed = observed({ sandboxes: [sandbox()], containers: [exited(1, Date.now())] });
      const backoff = { delay: 10_000, since: Date.now() - 1_000 };
      const restarts = new Map([
        ['main', { key: JSON.stringify([IMAGE, {}]), backoff: { ...backoff, delay: 10_000.4 } }],
      ]);
      const { outcome } = end(sync(pod(), crashed), {}, { ...NO_MEMORY, restarts });
      expect(outcome).toMatchObject({ kind: 'synced', next: expect.toSatisfy(Number.isInteger) as unknown });
    });

    it('tells BackOff of a container that waits for its restart, as a warning in the words of the kubelet', () => {
      const crashed = observed({ sandboxes: [sandbox()], containers: [exited(1, Date.now())] });
      const backoff = { delay: 10_000, since: Date.now() };
      const restarts = new Map([['main', { key: JSON.stringify([IMAGE, {}]), backoff }]]);
      expect(reports(sync(pod(), crashed), {}, { ...NO_MEMORY, restarts })[0]).toMatchObject({
        kind: 'note',
        note: {
          level: 'Warning',
          reason: 'BackOff',
          message: 'Back-off restarting failed container main in pod web_default(u-1)',
          container: 'main',
        },
      });
    });

    it('backs off no container that could not be made, and tries it again within the usual time', () => {
      const cri: Partial<Cri> = { createContainer: () => throwError(() => new RuntimeError('refused', '', 'no')) };
      const empty = observed({ sandboxes: [sandbox()] });
      const { outcome, memory } = end(sync(pod(), empty), { cri, looks: [of(empty)] });
      expect(outcome).toMatchObject({ next: 10_000 });
      expect(memory?.restarts).toEqual(new Map());
    });

    it('says that the pod is finished when nothing of it will ever run again', () => {
      const { outcome } = end(sync(pod({ spec: { restartPolicy: 'OnFailure' } }), ENDED), {});
      expect(outcome).toMatchObject({ kind: 'synced', finished: true });
    });

    it('fails with a note when the sandbox cannot be made, and does not take that for a sandbox that ended', () => {
      const error = new RuntimeError('refused', 'RunPodSandbox', 'no network');
      const cri: Partial<Cri> = { runPodSandbox: () => throwError(() => error) };
      const all = reports(sync(pod(), observed({})), { cri }, { ...NO_MEMORY, failures: 2 });
      expect(all[0]).toMatchObject({
        kind: 'note',
        note: {
          level: 'Warning',
          reason: 'FailedCreatePodSandBox',
          message: 'Failed to create pod sandbox: no network',
        },
      });
      expect(all[1]).toMatchObject({
        kind: 'outcome',
        outcome: { kind: 'failed', error, next: 10_000 },
        memory: { failures: 3, sandbox: undefined },
      });
    });

    it('fails with a note when a volume cannot be had', () => {
      const volumes = [{ name: 'v', hostPath: { path: '/no', type: 'Directory' } }];
      const [note] = reports(sync(podWith(volumes), observed({})), {});
      expect(note).toMatchObject({ kind: 'note', note: { level: 'Warning', reason: 'FailedMount' } });
    });

    it('fails when it cannot look', () => {
      const error = new RuntimeError('unavailable', 'ListContainers', 'down');
      const { outcome, memory } = end(sync(pod()), { looks: [throwError(() => error)] });
      expect(outcome).toMatchObject({ kind: 'failed', error, next: 10_000 });
      expect(memory?.failures).toBe(1);
    });

    it('tries a failed sync again after its period and up to half of it more', () => {
      const nextWith = (random: number): unknown =>
        end(sync(pod()), { looks: [throwError(() => new Error('no'))], more: { random: () => random } }).outcome;
      expect(nextWith(0)).toMatchObject({ next: 10_000 });
      expect(nextWith(0.5)).toMatchObject({ next: 12_500 });
    });

    it(
      'cancels the call in flight when nobody listens any more',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const run = cold<never>('------');
        const work$ = actions({ cri: { runPodSandbox: () => run } }).perform(sync(pod(), observed({})), NO_MEMORY);
        expectObservable(work$, '^--!').toBe('-');
        expectSubscriptions(run.subscriptions).toBe('^--!');
      }),
    );
  });

  describe('prepare', () => {
    const PREPARE: PodWork = { kind: 'prepare', uid: UID, pod: pod({ names: ['a', 'b'] }), why: 'edited' };
    const absent: PerformContext['images'] = { status: () => of({}), pull: () => throwError(() => new Error('404')) };

    it('touches nothing that runs, and says nothing where all images are there', () => {
      const log: string[] = [];
      expect(reports(PREPARE, { log })).toEqual([
        expect.objectContaining({ outcome: { kind: 'prepared', uid: UID, work: PREPARE } }),
      ]);
      expect(log).toEqual([]);
    });

    it(
      'comes back when the pull that failed may be tried again',
      marbles(({ expectObservable }) => {
        const next$ = actions({ more: { images: absent, retryPeriod: 15_000 } })
          .perform(PREPARE, NO_MEMORY)
          .pipe(map((it) => (it.kind === 'outcome' && it.outcome.kind === 'failed' ? it.outcome.next : 'n')));
        expectObservable(next$).toBe('(nnt|)', { n: 'n', t: 10_000 });
      }),
    );

    it('does not come back over and over for a pull whose time has passed', () => {
      const images: PerformContext['images'] = { ...absent, status: () => throwError(() => new Error('no')) };
      const past = { delay: 10_000, until: 0, error: '' };
      const memory = { ...NO_MEMORY, pulls: new Map([[IMAGE, past]]) };
      expect(end(PREPARE, { more: { images } }, memory).outcome).toMatchObject({ kind: 'failed', next: 10_000 });
    });
  });

  describe('terminate', () => {
    it('ends what runs and tells what it found afterwards', () => {
      const log: string[] = [];
      const all = reports(terminate(7), { log, looks: [of(WELL), of(ENDED)] });
      expect(log).toEqual(['look', 'stopContainer main-0', 'stopPodSandbox s-0', 'look']);
      expect(all[0]).toMatchObject({ kind: 'note', note: { reason: 'Killing', message: 'Stopping container main' } });
      expect(all[1]).toMatchObject({ kind: 'outcome', outcome: { kind: 'ended', observed: ENDED } });
    });

    it('starts nothing of a pod that is being ended, whatever has ended', () => {
      const log: string[] = [];
      const half = observed({ sandboxes: [sandbox()], containers: [exited(1), container({ name: 'side' })] });
      reports(terminate(), { log, looks: [of(half), of(ENDED)] });
      expect(log).toEqual(['look', 'stopContainer side-0', 'stopPodSandbox s-0', 'look']);
    });

    it.each<[string, ObservedPod, string]>([
      ['a container still runs', WELL, 'main'],
      ['a sandbox is still up', { ...WELL, containers: [] }, 'sandbox 0'],
    ])('fails when %s, and comes back later each time', (_what, left, name) => {
      const after = (failures: number) => end(terminate(), { looks: [of(left)] }, { ...NO_MEMORY, failures }).outcome;
      expect(after(0)).toMatchObject({ kind: 'failed', next: 1_000, observed: left });
      expect([1, 2, 3, 4, 9].map((failures) => after(failures))).toEqual(
        [2_000, 4_000, 8_000, 10_000, 10_000].map(
          (next) => expect.objectContaining({ kind: 'failed', next }) as unknown,
        ),
      );
      const outcome = after(0);
      expect(outcome.kind === 'failed' && String(outcome.error)).toContain(name);
    });

    describe('leaves the sandbox to the clean-up, so that a successor starts sooner,', () => {
      const UP = { ...ENDED, sandboxes: [sandbox()] };
      const ports = (port: object, more: object = {}) =>
        pod({
          spec: { ...more, containers: [{ name: 'main', image: IMAGE, ports: [{ containerPort: 80, ...port }] }] },
        });

      it.each<[string, Pod | undefined, readonly string[]]>([
        ['of a pod without ports of the node', ports({}), []],
        ['of a pod in the network of the node', ports({ hostPort: 80 }, { hostNetwork: true }), []],
        ['but not of one with a port of the node', ports({ hostPort: 80 }), ['stopPodSandbox s-0']],
        ['and not of one that nobody knows any more', undefined, ['stopPodSandbox s-0']],
      ])('%s', (_what, of_, stopped) => {
        const log: string[] = [];
        const looks = [of(WELL), of(stopped.length > 0 ? ENDED : UP)];
        expect(end(terminate(7, of_), { log, looks }).outcome.kind).toBe('ended');
        expect(log).toEqual(['look', 'stopContainer main-0', ...stopped, 'look']);
      });

      const [second, first] = [sandbox({ id: 's-1', attempt: 1 }), sandbox({ state: 'notReady' })];

      it('but frees what one holds that is down', () => {
        const log: string[] = [];
        const looks = [of({ ...WELL, sandboxes: [second, first] }), of({ ...ENDED, sandboxes: [second, first] })];
        expect(end(terminate(7, ports({})), { log, looks }).outcome.kind).toBe('ended');
        expect(log).toEqual(['look', 'stopContainer main-0', 'stopPodSandbox s-0', 'look']);
      });

      it('but not one that came up only meanwhile', () => {
        const looks = [of(WELL), of({ ...ENDED, sandboxes: [second, sandbox()] })];
        const { outcome } = end(terminate(7, ports({})), { looks });
        expect(outcome.kind === 'failed' && String(outcome.error)).toContain('sandbox 1');
      });
    });

    it('fails with a note when the runtime does not do it', () => {
      const cri: Partial<Cri> = { stopContainer: () => throwError(() => new RuntimeError('deadline', '', 'too late')) };
      const all = reports(terminate(), { cri, looks: [of(WELL)] }, { ...NO_MEMORY, failures: 1 });
      expect(all.slice(1)).toEqual([
        expect.objectContaining({
          note: { level: 'Warning', reason: 'FailedKillPod', message: 'error killing pod: too late' },
        }),
        expect.objectContaining({ outcome: expect.objectContaining({ kind: 'failed', next: 2_000 }) as unknown }),
      ]);
    });
  });

  describe('volumes', () => {
    const needs = (type: string): Pod => podWith([{ name: 'h', hostPath: { path: '/h', type } }]);
    const empty = observed({ revision: 3 });
    const message = 'MountVolume.SetUp failed for volume "h" : hostPath type check failed: /h is not a file';

    it(
      'a volume that is not ready is told as FailedMount, and fails the work until it may be tried again, later each time',
      marbles(() => {
        const first = reports(sync(needs('File'), empty), {});
        expect(first).toMatchObject([
          { kind: 'note', note: { level: 'Warning', reason: 'FailedMount', message } },
          { kind: 'outcome', outcome: { kind: 'failed', next: 500 } },
        ]);
        const memory = end(sync(needs('File'), empty), {}).memory ?? NO_MEMORY;
        const now = { ...memory, mounts: new Map([['h', { since: 0, delay: 500, until: 0, error: message }]]) };
        expect(end(sync(needs('File'), empty), {}, now).outcome).toMatchObject({ kind: 'failed', next: 1_000 });
      }),
    );

    it(
      'a volume whose time has not come is not told of again',
      marbles(() => {
        const held = { ...NO_MEMORY, mounts: new Map([['h', { since: 0, delay: 500, until: 300, error: message }]]) };
        expect(reports(sync(needs('File'), empty), {}, held)).toMatchObject([
          { kind: 'outcome', outcome: { kind: 'failed', next: 300 }, memory: { mounts: held.mounts } },
        ]);
      }),
    );

    it('a volume that is ready is forgotten as a failure', () => {
      const failed = { ...NO_MEMORY, mounts: new Map([['h', { since: 0, delay: 500, until: 0, error: message }]]) };
      const { memory } = end(sync(needs(''), empty), { looks: [of(WELL)] }, failed);
      expect(memory?.mounts).toEqual(new Map());
    });

    it('files in the volumes of a pod that goes on are brought up to date at each sync', () => {
      const log: string[] = [];
      const of$ = podWith([{ name: 'd', downwardAPI: {} }]);
      const volumeFiles = fakeVolumeFiles(log);
      expect(reports(sync(of$, WELL), { more: { volumeFiles } })).toMatchObject([
        { kind: 'outcome', outcome: { kind: 'synced' } },
      ]);
      expect(log.filter((call) => call.startsWith('writePayload'))).toHaveLength(1);
    });

    it('files that cannot be brought up to date are told of, and the pod is well nevertheless', () => {
      const volumeFiles = fakeVolumeFiles([], { writePayload: () => throwError(() => new Error('ENOSPC: disk full')) });
      const of$ = podWith([{ name: 'd', downwardAPI: {} }]);
      expect(reports(sync(of$, WELL), { more: { volumeFiles } })).toMatchObject([
        { kind: 'note', note: { level: 'Warning', reason: 'FailedMount', message: 'ENOSPC: disk full' } },
        { kind: 'outcome', outcome: { kind: 'synced' } },
      ]);
    });

    it('volumes are unmounted before the folder of the pod is removed', () => {
      const log: string[] = [];
      const target = '/root/pods/u-1/volumes/kubernetes.io~empty-dir/m';
      const mounts = fakeMounts(log, { below: () => of([{ target, type: 'tmpfs' }]) });
      expect(end(CLEAN_UP, { log, looks: [of(ENDED)], more: { mounts } }).outcome.kind).toBe('cleanedUp');
      const order = log.filter((call) => /unmount|removeTree \/root/.test(call));
      expect(order).toEqual([`unmount ${target}`, 'removeTree /root/pods/u-1']);
    });
  });

  describe('cleanUp', () => {
    it('removes containers with their links, then sandboxes, logs, folders and cgroups, in this order', () => {
      const log: string[] = [];
      const { outcome } = end(CLEAN_UP, { log, looks: [of(ENDED)] });
      expect(outcome.kind).toBe('cleanedUp');
      expect(log).toEqual([
        'look',
        'removeFile /links/web_default_main-main-0.log',
        'removeContainer main-0',
        'removePodSandbox s-0',
        'removeTree /logs/default_web_u-1',
        'removeTree /root/pods/u-1',
        'removeCgroup /kubepods/podu-1',
        'removeCgroup /kubepods/burstable/podu-1',
        'removeCgroup /kubepods/besteffort/podu-1',
      ]);
    });

    it('stops the sandboxes that are still up before it removes anything', () => {
      const log: string[] = [];
      expect(end(CLEAN_UP, { log, looks: [of({ ...ENDED, sandboxes: [sandbox()] })] }).outcome.kind).toBe('cleanedUp');
      expect(log.slice(0, 3)).toEqual(['look', 'stopPodSandbox s-0', 'removeFile /links/web_default_main-main-0.log']);
    });

    it('counts what is gone already as removed', () => {
      const gone = () => throwError(() => new RuntimeError('notFound', '', 'gone'));
      const cri: Partial<Cri> = { removeContainer: gone, removePodSandbox: gone };
      expect(end(CLEAN_UP, { cri, looks: [of(ENDED)] }).outcome.kind).toBe('cleanedUp');
    });

    describe('of what the runtime refuses to remove', () => {
      const refusal = new RuntimeError('refused', 'RemovePodSandbox', 'cannot delete running task s-0');
      const cgroupsOf = (log: string[]): Partial<PerformContext> => ({
        cgroups: fakeCgroups(log),
        forgetTask: (id) =>
          defer(() => {
            log.push(`forgetTask ${id}`);
            return throwError(() => new Error('task must be stopped before deletion'));
          }),
      });

      it('ends what is left in the cgroup of the pod, has it forgotten, and asks once more', () => {
        const log: string[] = [];
        let asked = 0;
        const cri: Partial<Cri> = {
          removePodSandbox: () => (asked++ === 0 ? throwError(() => refusal) : of(undefined)),
        };
        const { outcome } = end(CLEAN_UP, { log, cri, looks: [of(ENDED)], more: cgroupsOf(log) });
        expect(outcome.kind).toBe('cleanedUp');
        expect(log.slice(log.indexOf('removePodSandbox s-0'))).toEqual([
          'removePodSandbox s-0',
          'remove /kubepods/podu-1 kill',
          'remove /kubepods/burstable/podu-1 kill',
          'remove /kubepods/besteffort/podu-1 kill',
          'forgetTask s-0',
          'removePodSandbox s-0',
          'removeTree /logs/default_web_u-1',
          'removeTree /root/pods/u-1',
          'remove /kubepods/podu-1 kill',
          'remove /kubepods/burstable/podu-1 kill',
          'remove /kubepods/besteffort/podu-1 kill',
        ]);
      });

      it('fails with what the runtime says when that does not help, and tries all again later each time', () => {
        const log: string[] = [];
        const cri: Partial<Cri> = { removePodSandbox: () => throwError(() => refusal) };
        const world = { log, cri, looks: [of(ENDED)], more: cgroupsOf(log) };
        const { outcome, memory } = end(CLEAN_UP, world, { ...NO_MEMORY, failures: 1 });
        expect(outcome).toMatchObject({ kind: 'failed', error: refusal, next: 2_000 });
        expect(memory?.failures).toBe(2);
        expect(log.filter((call) => call === 'removePodSandbox s-0')).toHaveLength(2);
      });

      it('ends nothing where the runtime is only away', () => {
        const log: string[] = [];
        const away = new RuntimeError('unavailable', 'RemoveContainer', 'connection refused');
        const cri: Partial<Cri> = { removeContainer: () => throwError(() => away) };
        const { outcome } = end(CLEAN_UP, { log, cri, looks: [of(ENDED)], more: cgroupsOf(log) });
        expect(outcome).toMatchObject({ kind: 'failed', error: away });
        expect(log.filter((call) => call.endsWith('kill'))).toEqual([]);
      });
    });

    it('stops at what cannot be removed, and comes back later each time', () => {
      const log: string[] = [];
      const busy: Partial<Files> = { removeTree: () => throwError(() => new Error('EBUSY: something is mounted')) };
      const { outcome, memory } = end(
        CLEAN_UP,
        { log, files: busy, looks: [of(ENDED)] },
        { ...NO_MEMORY, failures: 2 },
      );
      expect(outcome).toMatchObject({ kind: 'failed', next: 4_000 });
      expect(memory?.failures).toBe(3);
      expect(log.at(-1)).toBe('removeTree /logs/default_web_u-1');
    });

    it('leaves cgroups alone where there is no tree for pods', () => {
      const log: string[] = [];
      const { config } = context();
      end(CLEAN_UP, { log, looks: [of(observed({}))], more: { config: { ...config, cgroupsPerQOS: false } } });
      expect(log.filter((call) => call.startsWith('removeCgroup'))).toEqual([]);
    });
  });

  it('keeps a container of two that failed out of the way of the other', () => {
    const of$ = pod({ spec: { containers: [wanted('a', { image: 'no:1' }), wanted('b')] } });
    const images: PerformContext['images'] = {
      status: (image) => of(image === 'no:1' ? {} : { image: { id: 'sha256:1' } }),
      pull: () => throwError(() => new Error('404')),
    };
    const log: string[] = [];
    const after = observed({ sandboxes: [sandbox()], containers: [container({ name: 'b' })] });
    const { outcome } = end(sync(of$, observed({})), { log, looks: [of(after)], more: { images } });
    expect(log).toContain('startContainer b-0');
    expect(outcome.kind === 'synced' && [...outcome.waiting]).toEqual([
      ['a', { reason: 'ErrImagePull', message: '404' }],
    ]);
  });
});
