import {
  asyncScheduler,
  defer,
  EMPTY,
  distinctUntilChanged,
  filter,
  ignoreElements,
  map,
  merge,
  observeOn,
  of,
  pairwise,
  queueScheduler,
  scan,
  share,
  startWith,
  Subject,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import type { PodChange } from '../model/desired.ts';
import type { ObservedPod, Snapshot } from '../model/observed.ts';
import { changedKeys, type ObjectSet } from '../model/objects/object-set.ts';
import type { NodePaths } from '../model/paths.ts';
import type { PodUid } from '../model/pod.ts';
import type { BackoffLimits } from '../model/restart/backoff.ts';
import { emitAll } from '../operators/emit-all.ts';
import { shareLatest } from '../operators/share-latest.ts';
import { switchByKey } from '../operators/switch-by-key.ts';
import { wantsImage } from './image-gc/wants-image.ts';
import { emptyBook, type BookEvent, type BookFacts, type Page, type PodBook } from './book/pod-book.ts';
import { turnPage } from './book/turn-page.ts';
import {
  checkpoints,
  memoryOf,
  type Checkpoint,
  type CheckpointFailure,
  type CheckpointStore,
} from './checkpoints/checkpoints.ts';
import { eviction } from './eviction/eviction.ts';
import { returns } from './eviction/returns.ts';
import { keepCgroups, type CgroupLayout } from './cgroups/keep-cgroups.ts';
import { rotateLogs, type RotationConfig, type RotationNote, type RotationPorts } from './logs/rotate-logs.ts';
import { imageGc, type ImageGcLimits, type ImageGcNote, type ImageGcPorts } from './image-gc/image-gc.ts';
import { spareContainers } from './image-gc/spare-containers.ts';
import { housekeeping, type HousekeepingNote } from './housekeeping/housekeeping.ts';
import { pleg, type PlegHealth, type PlegTimings } from './pleg/pleg.ts';
import type { Hint } from './pleg/hint.ts';
import type { Revisions } from './pleg/revisions.ts';
import type { Cgroups } from './ports/cgroups.ts';
import type { Cri } from './ports/cri.ts';
import type { Files } from './ports/files.ts';
import type { Meter } from './ports/meter.ts';
import type { NodeImages } from './ports/node-images.ts';
import type { LocalUsage } from './ports/local-usage.ts';
import type { Tracer } from './ports/tracer.ts';
import { runtimeState, type RuntimeState } from './runtime-state/runtime-state.ts';
import { EMPTY_EVENT_LOG, nodeSubject, recordEvent, type EventLog, type Happened } from './events/event-log.ts';
import type { ProbePorts, ProbeReport } from './probes/probe.ts';
import { prober } from './probes/prober.ts';
import { traceActions } from './trace/trace-actions.ts';
import { tracePage, whoseIs } from './trace/trace-page.ts';
import { podWorkers, type PodActions } from './workers/pod-workers.ts';
import type { PodNote, PodOutcome, PodReport } from './workers/pod-work.ts';

/** Everything the agent hears from the world, and every way it may act on it. */
export interface World {
  readonly batch$: Observable<readonly PodChange[]>;
  /** What serves the pods; the set of this moment at once. */
  readonly objects$: Observable<ObjectSet>;
  /** Turns true once every source has told what it wants. */
  readonly allSeen$: Observable<boolean>;
  /** Pods of which the runtime says that something happened; only ever a hint. */
  readonly hint$: Observable<Hint>;
  /** Whether it says so at all. */
  readonly listening$: Observable<boolean>;
  /** Ends all pods, as before an exit that is to leave nothing behind. */
  readonly drain$: Observable<unknown>;
  readonly cri: Pick<Cri, 'version' | 'status'>;
  readonly files: Files;
  readonly paths: NodePaths;
  readonly unmountVolumes: (uid: PodUid) => Observable<never>;
  readonly listPods: () => Observable<Snapshot>;
  readonly observePod: (uid: PodUid, listed?: ObservedPod) => Observable<ObservedPod>;
  readonly revisions: Revisions;
  readonly facts: Omit<BookFacts, 'statuses' | 'eviction'>;
  /** How long evicted pods stay away, as crash-looping containers do. */
  readonly backoff: BackoffLimits;
  /** Absent where nobody is evicted for what it takes of the disk. */
  readonly localUsage?: LocalUsage;
  readonly checkpoints: CheckpointStore;
  /** Absent where the cgroups of pods are left to the runtime. */
  readonly cgroups?: { readonly port: Cgroups; readonly layout: CgroupLayout };
  /** Absent where images are left to somebody else. */
  readonly imageGc?: {
    readonly images: NodeImages;
    /** Removes a container that has ended, with its log; emits when that is done. */
    readonly removeContainer: ImageGcPorts['removeContainer'];
    readonly limits: ImageGcLimits;
    /** Milliseconds of a clock that never jumps. */
    readonly monotonic: () => number;
    readonly nodeName: string;
  };
  /** Absent where the logs of containers are left to somebody else. */
  readonly rotation?: { readonly ports: RotationPorts; readonly config: RotationConfig };
  /** What an earlier run of the agent kept. */
  readonly kept: readonly Checkpoint[];
  readonly actions: PodActions;
  readonly probe: ProbePorts['probe'];
  /** Hears what was measured. */
  readonly meter: Meter;
  /** Hears every input, decision and effect as it comes. */
  readonly trace: Tracer;
  /** Hears every page of the book as a whole, before anything comes of it; absent: nobody does. */
  readonly turned?: (before: PodBook, event: BookEvent, page: Page) => void;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

export interface AgentTimings {
  readonly pleg: PlegTimings;
  /** Milliseconds between two questions to the runtime how it is (kubelet: 5 s). */
  readonly statusPeriod: number;
  /** Milliseconds between two rounds of housekeeping on disk. */
  readonly housekeepingPeriod: number;
}

/** What the agent has to tell. Nothing here has happened until someone subscribes. */
export interface Agent {
  /** What is done to the pods; subscribing to it is what runs the agent. Never errors, never completes. */
  readonly report$: Observable<PodReport>;
  /** What happened, as it happens: to the pods and to those that look after them. */
  readonly note$: Observable<Happened>;
  /** The last of it, equal events counted; now and on every change. */
  readonly events$: Observable<EventLog>;
  /** All that is known of the pods, now and on every change. */
  readonly book$: Observable<PodBook>;
  readonly runtime$: Observable<RuntimeState>;
  readonly plegHealth$: Observable<PlegHealth>;
  readonly housekeeping$: Observable<HousekeepingNote>;
  /** Keeps the cgroups above those of the pods; emits sentences about what could not be done. */
  readonly cgroup$: Observable<string>;
  /** Rotates the logs of containers; emits what it did, and what it could not do. */
  readonly rotation$: Observable<RotationNote>;
  /** Removes images; emits what it did, and what is wrong. */
  readonly imageGc$: Observable<ImageGcNote>;
  /** Keeps the checkpoints; emits what could not be written. */
  readonly checkpoint$: Observable<CheckpointFailure>;
  /** Emits once, when a drain was asked for and nothing is left to end. */
  readonly drained$: Observable<unknown>;
}

/**
 * Wires the agent. Pure: it creates streams and subscribes to none of them.
 *
 * ```text
 * changes, snapshots, sightings, outcomes, wake-ups ──► pages of the book ──► work ──► reports ──┐
 *                                                  ▲                                             │
 *                                                  └──────────── the only feedback loop ─────────┘
 * ```
 *
 * All streams share one run of it, which lasts as long as somebody is subscribed to `report$`.
 */
export function agent(world: World, timings: AgentTimings): Agent {
  const outcomes = new Subject<PodOutcome>();
  const starts = new Subject<Extract<BookEvent, { kind: 'starting' }>>();
  // Fed back like outcomes: pages that were subscribed to themselves would never come to an end.
  const findings = new Subject<ProbeReport>();
  const kills = new Subject<BookEvent>();
  const books = new Subject<PodBook>();
  const busy = new Set<PodUid>();
  const statuses = new Map(world.kept.flatMap(({ uid, status }) => (status ? [[uid, status] as const] : [])));
  const evictions = new Map(world.kept.flatMap(({ uid, eviction }) => (eviction ? [[uid, eviction] as const] : [])));
  let book = emptyBook({ ...world.facts, statuses, eviction: { backoff: world.backoff, kept: evictions } });
  let inRuntime: ReadonlySet<PodUid> = new Set();
  let held: ReadonlySet<string> = new Set();

  const runtime$ = runtimeState(world.cri, timings.statusPeriod, world.listening$).pipe(shareLatest());

  const { sighting$, snapshot$, recovered$, health$ } = pleg(
    {
      listPods: world.listPods,
      observePod: world.observePod,
      revision: world.revisions.current,
      nudge$: runtime$.pipe(filter(({ ready }) => ready)),
      hint$: world.hint$.pipe(
        tap(({ uid }) => {
          world.trace({ kind: 'hint', pod: whoseIs(book, uid) });
        }),
      ),
      listening$: world.listening$,
      known$: outcomes.pipe(
        map(observedBy),
        filter((observed) => observed !== undefined),
      ),
      settled: (uid) =>
        defer(() =>
          busy.has(uid)
            ? outcomes.pipe(
                filter((outcome) => outcome.uid === uid),
                take(1),
              )
            : of(undefined),
        ),
    },
    timings.pleg,
  );

  const plegHealth$ = health$.pipe(shareLatest());

  const probe$ = defer(() =>
    prober(books, { probe: world.probe, random: world.random, seed: seedOf(world) }, asyncScheduler.now()),
  ).pipe(share());

  const kill$: Observable<BookEvent> = merge(
    (world.localUsage ? eviction(books, world.localUsage, world.paths) : EMPTY).pipe(
      map((kill) => ({ kind: 'evict' as const, ...kill })),
    ),
    returns(books).pipe(map((uid) => ({ kind: 'return' as const, uid }))),
  );

  const event$: Observable<BookEvent> = merge(
    world.batch$.pipe(map((changes) => ({ kind: 'changes' as const, changes }))),
    world.objects$.pipe(
      pairwise(),
      map(([before, after]) => ({ kind: 'objects' as const, keys: changedKeys(before, after) })),
    ),
    world.allSeen$.pipe(
      filter(Boolean),
      take(1),
      map(() => ({ kind: 'allSeen' as const })),
    ),
    snapshot$.pipe(map((snapshot) => ({ kind: 'snapshot' as const, snapshot }))),
    sighting$.pipe(map(({ pod }) => ({ kind: 'sighting' as const, pod }))),
    findings.pipe(emitAll(probeEvents)),
    starts,
    kills,
    outcomes.pipe(map((outcome) => ({ kind: 'outcome' as const, outcome }))),
    outcomes.pipe(switchByKey({ key: ({ uid }) => uid, project: wakeUp })),
    runtime$.pipe(
      map(({ ready, networkReady }) => ready && networkReady),
      distinctUntilChanged(),
      filter(Boolean),
      map(() => ({ kind: 'runtimeReady' as const })),
    ),
    recovered$.pipe(map(() => ({ kind: 'runtimeReady' as const }))),
    world.drain$.pipe(
      take(1),
      map(() => ({ kind: 'drain' as const })),
    ),
  );

  const page$ = event$.pipe(
    observeOn(queueScheduler), // work that ends at once must not turn the next page while this one is being read
    scan(
      (page: Page, event) => {
        const next = turnPage(page, event, asyncScheduler.now());
        tracePage(page.book, event, next, world.trace);
        world.turned?.(page.book, event, next);
        return next;
      },
      { book, work: [], notes: [] },
    ),
    tap((page) => {
      if (page.book === book) return;
      book = page.book;
      books.next(book);
    }),
    share(),
  );

  const book$: Observable<PodBook> = page$.pipe(
    map((page) => page.book),
    distinctUntilChanged(),
    shareLatest(),
  );

  const work$ = page$.pipe(
    emitAll(({ work }) => work),
    tap(({ uid }) => busy.add(uid)),
  );

  const report$ = merge(
    podWorkers(
      work$,
      traceActions(world.actions, world.trace),
      new Map(world.kept.map((one) => [one.uid, memoryOf(one)])),
    ).pipe(
      tap((report) => {
        if (report.kind === 'starting') starts.next(report);
        if (report.kind !== 'outcome') return;
        busy.delete(report.uid);
        outcomes.next(report.outcome);
      }),
    ),
    snapshot$.pipe(
      tap(({ pods }) => {
        inRuntime = new Set(pods.keys());
        held = new Set([...pods.values()].flatMap(({ containers }) => containers.map(({ id }) => id)));
      }),
      ignoreElements(),
    ),
    page$.pipe(emitAll(({ notes }) => notes.map((one): PodReport => ({ kind: 'note', ...one })))),
    probe$.pipe(
      tap((report) => {
        findings.next(report);
      }),
      emitAll(probeNotes),
    ),
    kill$.pipe(
      tap((kill) => {
        kills.next(kill);
      }),
      ignoreElements(),
    ),
    // Kept up to date for whoever looks in later.
    merge(book$, runtime$, plegHealth$).pipe(ignoreElements()),
  ).pipe(
    tap((report) => {
      if (report.kind === 'note') world.trace({ kind: 'note', pod: whoseIs(book, report.uid), ...report.note });
    }),
    share(),
  );

  /** Whose it was is known as long as the pod is in the book, and of the last work on it even after that. */
  function happened(uid: PodUid, note: PodNote): readonly Happened[] {
    const entry = book.entries.get(uid);
    return entry ? [{ of: entry.of, note, pod: entry.pod }] : [];
  }

  const imageGc$ = (
    world.imageGc
      ? imageGc(
          {
            images: world.imageGc.images,
            isWanted: (image) => wantsImage(book, image),
            spareContainers: () => spareContainers(book),
            removeContainer: world.imageGc.removeContainer,
            complete$: book$.pipe(filter(isComplete)),
            monotonic: world.imageGc.monotonic,
          },
          world.imageGc.limits,
        )
      : EMPTY
  ).pipe(share());

  const note$ = merge(
    report$.pipe(emitAll((report) => (report.kind === 'note' ? happened(report.uid, report.note) : []))),
    imageGc$.pipe(emitAll((note) => nodeNotes(note, world.imageGc?.nodeName ?? ''))),
  ).pipe(share());
  const events$ = note$.pipe(
    scan((log, happening) => recordEvent(log, happening, asyncScheduler.now()), EMPTY_EVENT_LOG),
    startWith(EMPTY_EVENT_LOG),
    shareLatest(),
  );

  return {
    report$: merge(report$, events$.pipe(ignoreElements())),
    note$,
    events$,
    book$,
    runtime$,
    plegHealth$,
    housekeeping$: housekeeping(
      {
        files: world.files,
        paths: world.paths,
        unmountVolumes: world.unmountVolumes,
        isKnown: (uid) => book.entries.has(uid) || inRuntime.has(uid),
        isHeld: (containerId) => held.has(containerId),
        meter: world.meter,
        complete$: book$.pipe(filter(isComplete)),
      },
      timings.housekeepingPeriod,
    ),
    cgroup$: world.cgroups
      ? keepCgroups(
          book$,
          world.cgroups.port,
          world.cgroups.layout,
          (uid) => book.entries.has(uid) || inRuntime.has(uid),
        )
      : EMPTY,
    imageGc$,
    rotation$: world.rotation ? rotateLogs(book$, world.rotation.ports, world.rotation.config) : EMPTY,
    checkpoint$: checkpoints({ book$, report$ }, world.checkpoints, world.kept),
    drained$: book$.pipe(
      filter(({ draining, entries }) => draining && entries.size === 0),
      take(1),
    ),
  };
}

/** What an earlier run of the agent knew of a container that still runs: a ready pod stays ready. */
function seedOf({ kept, facts }: World): ProbePorts['seed'] {
  const before = new Map(
    kept
      .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
      .map((status) => [status.containerID, status] as const),
  );
  return (_uid, containerId, kind) => {
    const status = before.get(`${facts.runtimeName}://${containerId}`);
    if (kind === 'readiness') return status?.ready === true ? 'success' : undefined;
    return kind === 'startup' && status?.started === true ? 'success' : undefined;
  };
}

/** Every source was heard, and the runtime listed. */
function isComplete({ allSeen, runtimeSeen }: PodBook): boolean {
  return allSeen && runtimeSeen;
}

function nodeNotes(note: ImageGcNote, nodeName: string): readonly Happened[] {
  if (note.kind !== 'trouble' || !note.isEvent) return [];
  const { reason, message } = note;
  return [{ of: nodeSubject(nodeName), note: { level: 'Warning', reason, message } }];
}

function probeEvents(report: ProbeReport): readonly BookEvent[] {
  if (report.kind === 'ended') return [];
  const { uid, container, findings } = report;
  return [{ kind: 'probe', uid, container, findings }];
}

function probeNotes(report: ProbeReport): readonly PodReport[] {
  return report.kind === 'found' && report.note ? [{ kind: 'note', uid: report.uid, note: report.note }] : [];
}

function observedBy(outcome: PodOutcome): ObservedPod | undefined {
  switch (outcome.kind) {
    case 'synced':
    case 'ended':
      return outcome.observed;
    case 'failed':
      return outcome.observed;
    case 'prepared':
    case 'cleanedUp':
      return undefined;
  }
}

/** The pod gets its next turn when its outcome says so, unless something else comes first. */
function wakeUp(outcome: PodOutcome): Observable<BookEvent> | undefined {
  switch (outcome.kind) {
    case 'synced':
      return outcome.finished ? undefined : timer(outcome.next).pipe(map(() => ({ kind: 'wake', uid: outcome.uid })));
    case 'failed':
      return timer(outcome.next).pipe(map(() => ({ kind: 'wake', uid: outcome.uid })));
    case 'prepared':
    case 'ended':
    case 'cleanedUp':
      return undefined;
  }
}
