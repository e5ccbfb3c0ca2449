import {
  asyncScheduler,
  concat,
  delay,
  EMPTY,
  filter,
  ignoreElements,
  merge,
  NEVER,
  of,
  Subject,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs';
import { describe, it } from 'vitest';
import type { PodChange } from '../../../src/model/desired.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { DEAF } from '../../../src/streams/ports/meter.ts';
import { agent } from '../../../src/streams/agent.ts';
import type { World } from '../../../src/streams/agent/world.ts';
import { revisions } from '../../../src/streams/pleg/revisions.ts';
import type { PodOutcome, PodReport, PodWork } from '../../../src/streams/workers/pod-work.ts';
import { fakeCri, fakeFiles } from '../fakes.ts';
import { marbles } from '../harness.ts';

const TIMINGS = {
  pleg: {
    period: 1_000,
    listeningPeriod: 1_000,
    cooldown: 10,
    threshold: 10_000,
    deadline: 100,
    patience: 10,
    patienceWithBeginnings: 3_000,
  },
  statusPeriod: 5_000,
  housekeepingPeriod: 60_000,
};

/** Versions of one pod: their UIDs differ, their name does not. */
function pod(uid: string): Pod {
  return {
    metadata: { uid: uid as PodUid, name: 'web', namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [], terminationGracePeriodSeconds: 30 },
  };
}

const added = (uid: string): readonly PodChange[] => [{ op: 'add', source: 'file', pod: pod(uid) }];
const removed = (uid: string): readonly PodChange[] => [{ op: 'remove', source: 'file', pod: pod(uid) }];
const edited = (from: string, to: string): readonly PodChange[] => [...removed(from), ...added(to)];

/** How long each kind of work takes, in frames. */
interface Durations {
  readonly prepare: number;
  readonly terminate: number;
}

/** Letters of the work as it begins: a, b, c sync a version; A, B, C end it; p, q, r prepare it. */
function begun(
  batch$: Observable<readonly PodChange[]>,
  update: 'prepare' | 'immediate',
  { prepare, terminate }: Durations,
  isHopeless: (uid: string) => boolean = () => false,
): Observable<string> {
  const begin = new Subject<string>();
  const frames: Record<PodWork['kind'], number> = { sync: 2, prepare, terminate, cleanUp: 1 };

  function perform(work: PodWork): Observable<PodReport> {
    const at = ['a', 'b', 'c'].indexOf(work.uid);
    const letters = { sync: 'abc', terminate: 'ABC', prepare: 'pqr', cleanUp: '   ' }[work.kind];
    begin.next(letters[at] ?? '?');
    return of<PodReport>({ kind: 'outcome', uid: work.uid, outcome: outcomeOf(work, isHopeless(work.uid)) }).pipe(
      delay(frames[work.kind]),
    );
  }

  const world: World = {
    batch$,
    objects$: NEVER,
    allSeen$: of(true),
    hint$: NEVER,
    listening$: of(false),
    drain$: NEVER,
    cri: fakeCri([]),
    files: fakeFiles([]),
    paths: { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' },
    monotonic: () => asyncScheduler.now(),
    unmountVolumes: () => EMPTY,
    listPods: () => of({ revision: 1, pods: new Map() }),
    observePod: () => EMPTY,
    revisions: revisions(),
    facts: { runtimeName: 'containerd', hostIps: [], update },
    checkpoints: { load: () => of([]), save: () => of(undefined), remove: () => of(undefined) },
    kept: [],
    backoff: { initial: 10, ceiling: 100 },
    actions: { perform },
    probe: () => NEVER,
    meter: DEAF,
    trace: () => undefined,
    random: () => 0,
  };
  const story$ = merge(begin, agent(world, TIMINGS).report$.pipe(ignoreElements())).pipe(takeUntil(timer(40)));
  return concat(story$, NEVER).pipe(filter((letter) => letter !== ' '));
}

function outcomeOf(work: PodWork, isHopeless: boolean): PodOutcome {
  const { uid } = work;
  const observed = { uid, name: 'web', namespace: 'default', revision: 0, sandboxes: [], containers: [] };
  switch (work.kind) {
    case 'sync':
      return { kind: 'synced', uid, work, observed, waiting: new Map(), finished: false, next: 60_000 };
    case 'prepare':
      return isHopeless
        ? { kind: 'failed', uid, work, error: new Error('no such image'), next: 60_000 }
        : { kind: 'prepared', uid, work };
    case 'terminate':
      return { kind: 'ended', uid, work, observed };
    case 'cleanUp':
      return { kind: 'cleanedUp', uid, work };
  }
}

const batches = { a: added('a'), b: edited('a', 'b'), c: edited('b', 'c'), x: removed('b'), z: edited('b', 'a') };

describe('succession', () => {
  it(
    'starts the new version in the instant in which the old one has ended',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b-----------', batches);
      //                            AAAA|
      const expected = '   --a----A---b-------';
      expectObservable(begun(batch$, 'immediate', { prepare: 3, terminate: 4 })).toBe(expected);
    }),
  );

  it(
    'runs only the last of several versions that come while the old one ends',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b-c---------', batches);
      const expected = '   --a----A---c-------';
      expectObservable(begun(batch$, 'immediate', { prepare: 3, terminate: 4 })).toBe(expected);
    }),
  );

  it(
    'ends the old version only when all is at hand for the new one',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b--------------', batches);
      //                            qqq|
      //                               AAAA|
      const expected = '   --a----q--A---b-------';
      expectObservable(begun(batch$, 'prepare', { prepare: 3, terminate: 4 })).toBe(expected);
    }),
  );

  it(
    'never ends the old version for one that cannot be prepared',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b-----c--------', batches);
      const expected = '   --a----q-----r--A---c-';
      expectObservable(begun(batch$, 'prepare', { prepare: 3, terminate: 4 }, (uid) => uid === 'b')).toBe(expected);
    }),
  );

  it(
    'goes on with the old version when the edit is taken back',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b-z------------', batches);
      const expected = '   --a----q-a------------';
      expectObservable(begun(batch$, 'prepare', { prepare: 9, terminate: 4 })).toBe(expected);
    }),
  );

  it(
    'ends the old version when its manifest goes while the new one is being prepared',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot(' --a----b-x------------', batches);
      const expected = '   --a----q-A------------';
      expectObservable(begun(batch$, 'prepare', { prepare: 9, terminate: 4 })).toBe(expected);
    }),
  );
});
