import {
  asyncScheduler,
  catchError,
  concat,
  EMPTY,
  filter,
  ignoreElements,
  map,
  mergeMap,
  of,
  throwError,
  type Observable,
} from 'rxjs';
import type { CreateContainerRequest } from '../../../src/model/cri/api.ts';
import type { Choice, NodeImage } from '../../../src/model/images/choose-images.ts';
import type { ObservedContainer, ObservedPod } from '../../../src/model/observed.ts';
import type { SerializeByKeyConfig } from '../../../src/operators/serialize-by-key.ts';
import type { SimulatedNode } from '../../../src/simulation/simulated-node.ts';
import type { Page } from '../../../src/streams/book/pod-book.ts';
import type { PodReport, PodWork } from '../../../src/streams/workers/pod-work.ts';
import type { PodActions } from '../../../src/streams/workers/pod-workers.ts';
import type { Invariant } from './invariants.ts';
import type { Disguise } from './live-world.ts';
import { TOO_MUCH } from './planned-pods.ts';
import type { ImagesPlan, PodPlan, ProcessPlan, StepPlan, VersionPlan, WorldPlan } from './world-plan.ts';

type Lanes = SerializeByKeyConfig<PodWork, unknown, PodReport>;

/** One way in which the agent may be broken: at a port, or in place of one of its modules. */
export interface Mutant {
  /** What of the invariants has to notice it. */
  readonly by: Invariant;
  /** A world that shows it. */
  readonly world: WorldPlan;
  readonly disguise?: Disguise;
  /** Of the lanes of the workers only. */
  readonly lanes?: (
    config: Lanes,
    real: (config: Lanes) => (work$: Observable<PodWork>) => Observable<PodReport>,
  ) => (work$: Observable<PodWork>) => Observable<PodReport>;
  readonly actions?: (real: PodActions) => PodActions;
  readonly observed?: (pod: ObservedPod) => ObservedPod;
  readonly page?: (page: Page) => Page;
  readonly afterExit?: () => 'restart';
  readonly oomScoreAdj?: () => number;
  readonly isShort?: () => boolean;
  readonly chosen?: (choice: Choice, all: readonly NodeImage[]) => Choice;
}

const NEVER_AGAIN = 1e9;
const DROP: StepPlan = { after: 5_000, do: 'drop', pod: 0 };
const FULL_DISK: StepPlan = { after: 0, do: 'fullDisk', for: 3_000 };

const FILL: StepPlan = { after: 5_000, do: 'fill', pod: 0 };
const ROOMY: ImagesPlan = { capacity: 20, old: 2 };

const PLAIN: ProcessPlan = { times: 0, after: 1_000, code: 1, last: 'runs', onTerm: 900, liveness: false };

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'keeps what waits and drops what arrives': {
    by: 'a kill is never lost',
    world: world({ fixedUid: true }, { after: 150, do: 'want', pod: 0, version: 1 }, { after: 50, do: 'drop', pod: 0 }),
    lanes: (config, real) => real({ ...config, fold: (waiting) => waiting }),
  },
  'opens a second lane for a pod that is being worked on': {
    by: 'a kill is never lost',
    world: world(
      { fixedUid: true },
      { after: 200, do: 'want', pod: 0, version: 1 },
      { after: 150, do: 'drop', pod: 0 },
    ),
    lanes:
      ({ work, recover }) =>
      (work$) =>
        work$.pipe(
          mergeMap((one) =>
            (work(one, () => undefined) as Observable<PodReport>).pipe(
              catchError((error: unknown) => of(recover(error, one))),
            ),
          ),
        ),
  },
  'forgets a kill': {
    by: 'when faults stop, observed equals desired soon',
    world: world({}, DROP),
    actions: (real) => ({
      perform: (work, memory) => (work.kind === 'terminate' ? EMPTY : real.perform(work, memory)),
    }),
  },
  'takes the order to end for the end': {
    by: 'grace is respected',
    world: world({}, DROP),
    actions: (real) => ({
      perform: (work, memory) => (work.kind === 'terminate' ? of(endedAtOnce(work)) : real.perform(work, memory)),
    }),
  },
  'skips the grace': {
    by: 'grace is respected',
    world: world({ grace: 6 }, DROP),
    disguise: (node) =>
      withCri(node, ({ stopContainer }) => ({
        stopContainer: (request) => stopContainer({ ...request, timeout: 2 }),
      })),
  },
  'draws out the grace': {
    by: 'grace is respected',
    world: world({}, DROP),
    disguise: (node) =>
      withCri(node, ({ stopContainer }) => ({
        stopContainer: (request) => stopContainer({ ...request, timeout: 30 }),
      })),
  },
  'orders instances by the wall clock': {
    by: 'no container is ended without a reason',
    world: world(
      {},
      { after: 2_000, do: 'setClock', by: -3_600_000 },
      { after: 1_000, do: 'kill', which: 0 },
      { after: 30_000, do: 'kill', which: 0 },
    ),
    observed: (pod) => ({ ...pod, containers: pod.containers.toSorted((a, b) => b.createdAt - a.createdAt) }),
  },
  'loses the outcome of a clean-up': {
    by: 'when faults stop, observed equals desired soon',
    world: world({}, DROP),
    actions: (real) => ({
      perform: (work, memory) =>
        real
          .perform(work, memory)
          .pipe(filter((report) => report.kind !== 'outcome' || report.outcome.kind !== 'cleanedUp')),
    }),
  },
  'starts a container twice': {
    by: 'never two running containers of one name in a pod',
    world: world({}),
    disguise: startsTwins,
  },
  'forgets what it wrote down': {
    by: 'a container that ends again and again waits',
    world: world({ times: 4, onTerm: 10 }, { after: 20_000, do: 'crash', for: 100 }),
    disguise: (node) => {
      const { world } = node;
      const typeOf: typeof world.disk.typeOf = (path) =>
        path.endsWith('/state') ? 'missing' : world.disk.typeOf(path);
      return { ...node, world: { ...world, disk: { ...world.disk, typeOf } } };
    },
  },
  'takes a sidecar for started before its probe says so': {
    by: 'nothing starts before its turn',
    world: world({ sidecars: [{ ...PLAIN, startup: 6_000 }] }),
    disguise: (node) => saysYes(node, 'startup'),
  },
  'takes every container for ready': {
    by: 'when faults stop, observed equals desired soon',
    world: world({ containers: [{ ...PLAIN, readiness: 'never' }] }),
    disguise: (node) => saysYes(node, 'readiness'),
  },
  'ends sidecars with the others': {
    by: 'grace is respected',
    world: world({ onTerm: 3_500, sidecars: [PLAIN] }, DROP),
    disguise: endsAllAtOnce,
  },
  'starts the successor before the end': {
    by: 'never two running copies of one full name',
    world: world({ onTerm: 3_500 }, { after: 5_000, do: 'want', pod: 0, version: 1 }),
    page: startsAllThatWait,
  },
  'removes volumes before the containers have ended': {
    by: 'volumes are never removed under a running container',
    world: world({}, DROP),
    disguise: (node) =>
      withCri(node, ({ stopContainer }) => ({
        stopContainer: (request) => {
          const container = node.world.containers().find(({ id }) => id === request.containerId);
          const uid = container?.config.labels?.['io.kubernetes.pod.uid'] ?? '';
          const removed$ = node.files.removeTree(`/var/lib/rxlet/pods/${uid}`).pipe(catchError(() => of(undefined)));
          return concat(removed$.pipe(ignoreElements()), stopContainer(request));
        },
      })),
  },
  'never tries again': {
    by: 'when faults stop, observed equals desired soon',
    world: world({}, FULL_DISK),
    actions: (real) => ({
      perform: (work, memory) =>
        real
          .perform(work, memory)
          .pipe(
            map((report) =>
              report.kind === 'outcome' && report.outcome.kind === 'failed'
                ? { ...report, outcome: { ...report.outcome, next: NEVER_AGAIN } }
                : report,
            ),
          ),
    }),
  },
  'starts again what is done': {
    by: 'no container starts again that is done',
    world: world({ policy: 'Never', times: 1 }),
    afterExit: () => 'restart',
  },
  'restarts a container at every look': {
    by: 'no container is ended without a reason',
    world: world({}),
    observed: (pod) => ({ ...pod, containers: pod.containers.map((one) => ({ ...one, annotations: {} })) }),
  },
  'evicts nobody': {
    by: 'when faults stop, observed equals desired soon',
    world: world({ limited: 'volume' }, FILL),
    disguise: (node) => takes(node, 0),
  },
  'evicts whoever has a limit': {
    by: 'only who takes too much is evicted',
    world: world({ limited: 'containers' }),
    disguise: (node) => takes(node, 2 * TOO_MUCH),
  },
  'takes the eviction of a pod for its end': {
    by: 'what has ended runs no more',
    world: world({ limited: 'volume' }, FILL),
    actions: (real) => ({
      perform: (work, memory) =>
        work.kind === 'terminate' && work.why.startsWith('Usage') ? of(endedAtOnce(work)) : real.perform(work, memory),
    }),
  },
  'lets an evicted pod come back at once': {
    by: 'an evicted pod stays away for its time',
    world: world({ limited: 'volume' }, FILL),
    page: startsAllThatWait,
  },
  'makes all processes alike to the kernel': {
    by: 'who asked for memory is killed last',
    world: {
      // Whom the kernel takes of those that are alike is chance: it does so some times.
      ...world({}, ...Array.from({ length: 6 }, () => ({ after: 40_000, do: 'fillMemory', for: 500 }) as const)),
      pods: [podOf({}), podOf({ qos: 'Burstable' }), podOf({ qos: 'Guaranteed' })],
    },
    oomScoreAdj: () => 0,
  },
  'does not tell why a container ended': {
    by: 'when faults stop, observed equals desired soon',
    world: world({}, { after: 5_000, do: 'fillMemory', for: 500 }),
    observed: (pod) => ({ ...pod, containers: pod.containers.map(withoutReason) }),
  },
  'removes images as long as there are any': {
    by: 'no more images go than must',
    world: { ...world({}), images: { capacity: 20, old: 3 } },
    isShort: () => true,
  },
  'removes pinned images too': {
    by: 'no image goes that somebody needs',
    world: { ...world({}, { after: 6_000, do: 'fillImageDisk', percent: 90, for: 20_000 }), images: ROOMY },
    chosen: (choice, all) => ({ ...choice, spare: all }),
  },
  'removes what was used last first': {
    by: 'images that were used go last',
    world: {
      ...world({}, DROP, { after: 9_000, do: 'fillImageDisk', percent: 70, for: 20_000 }),
      images: ROOMY,
    },
    chosen: (choice) => ({ ...choice, spare: choice.spare.toReversed() }),
  },
  'lets an error of one pod pass': {
    by: 'the streams of the agent never end',
    world: world({}, FULL_DISK),
    actions: (real) => ({
      perform: (work, memory) =>
        real
          .perform(work, memory)
          .pipe(
            mergeMap((report) =>
              report.kind === 'outcome' && report.outcome.kind === 'failed'
                ? throwError(() => new Error('not caught'))
                : of(report),
            ),
          ),
    }),
    lanes: (config, real) =>
      real({
        ...config,
        recover: (error) => {
          throw error;
        },
      }),
  },
};

/** A small world of one pod with one container, without dice. */
function world(parts: Partial<PodPlan & ProcessPlan & VersionPlan>, ...steps: readonly StepPlan[]): WorldPlan {
  return { seed: 1, events: true, pods: [podOf(parts)], steps, rates: {} };
}

function podOf({
  fixedUid = false,
  times = 0,
  onTerm = 900,
  ...more
}: Partial<PodPlan & ProcessPlan & VersionPlan>): PodPlan {
  const process: ProcessPlan = { times, after: 1_000, code: 1, last: 'runs', onTerm, liveness: false };
  const version: VersionPlan = {
    policy: 'Always',
    grace: 5,
    init: false,
    volume: true,
    containers: [process],
    ...more,
  };
  return { fixedUid, versions: [version, version] };
}

function withCri(
  node: SimulatedNode,
  change: (cri: SimulatedNode['cri']) => Partial<SimulatedNode['cri']>,
): SimulatedNode {
  return { ...node, cri: { ...node.cri, ...change(node.cri) } };
}

/** Every command of this name succeeds. */
function saysYes(node: SimulatedNode, command: string): SimulatedNode {
  return withCri(node, ({ execSync }) => ({
    execSync: (request) =>
      execSync(request).pipe(map((answer) => (request.cmd?.[0] === command ? { ...answer, exitCode: 0 } : answer))),
  }));
}

/** Whoever asks one container to end, stops the whole sandbox. */
function endsAllAtOnce(node: SimulatedNode): SimulatedNode {
  return withCri(node, ({ stopContainer, stopPodSandbox }) => ({
    stopContainer: (request) => {
      const container = node.world.containers().find(({ id }) => id === request.containerId);
      const stop$ = stopPodSandbox({ podSandboxId: container?.sandboxId ?? '' });
      return concat(stop$.pipe(ignoreElements()), stopContainer(request));
    },
  }));
}

function withoutReason({ detail, ...container }: ObservedContainer): ObservedContainer {
  return { ...container, ...(detail ? { detail: { ...detail, reason: '' } } : {}) };
}

/** Whatever is looked at takes so many bytes. */
function takes(node: SimulatedNode, bytes: number): SimulatedNode {
  return { ...node, volumeFiles: { ...node.volumeFiles, usage: () => of(bytes) } };
}

function endedAtOnce(work: Extract<PodWork, { kind: 'terminate' }>): PodReport {
  const { uid, of: identity } = work;
  const observed: ObservedPod = { ...identity, revision: asyncScheduler.now(), sandboxes: [], containers: [] };
  return { kind: 'outcome', uid, outcome: { kind: 'ended', uid, work, observed } };
}

function startsTwins(node: SimulatedNode): SimulatedNode {
  const made = new Map<string, CreateContainerRequest>();
  return withCri(node, ({ createContainer, startContainer }) => ({
    createContainer: (request) =>
      createContainer(request).pipe(
        map((answer) => {
          made.set(answer.containerId ?? '', request);
          return answer;
        }),
      ),
    startContainer: (request) =>
      startContainer(request).pipe(
        mergeMap((answer) => {
          const { config, ...more } = made.get(request.containerId ?? '') ?? {};
          const metadata = { ...config?.metadata, attempt: (config?.metadata?.attempt ?? 0) + 100 };
          return createContainer({ ...more, config: { ...config, metadata } }).pipe(
            mergeMap(({ containerId }) => startContainer({ containerId })),
            map(() => answer),
            catchError(() => of(answer)),
          );
        }),
      ),
  }));
}

function startsAllThatWait(page: Page): Page {
  const entries = new Map(page.book.entries);
  const work = [...page.work];
  for (const [uid, entry] of entries) {
    if (entry.phase !== 'waiting' || !page.book.runtimeSeen) continue;
    entries.set(uid, { ...entry, phase: 'syncing', waiting: new Map(), probes: new Map() });
    work.push({ kind: 'sync', uid, pod: entry.pod, probes: new Map(), why: 'it waits' });
  }
  return { ...page, book: { ...page.book, entries }, work };
}
