import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  EMPTY,
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
  type Observable,
} from 'rxjs';
import type { ObservedPod, Snapshot } from '../model/observed.ts';
import type { PodStatus, PodUid } from '../model/pod.ts';
import { emitAll } from '../operators/emit-all.ts';
import { shareLatest } from '../operators/share-latest.ts';
import { tellByKey } from '../operators/tell-by-key.ts';
import { bookEvents, feedback } from './agent/book-events.ts';
import { happenings } from './agent/happenings.ts';
import { upkeep, type Upkeep } from './agent/upkeep.ts';
import type { AgentTimings, World } from './agent/world.ts';
import { emptyBook, type BookEvent, type Page, type PodBook } from './book/pod-book.ts';
import { turnPage } from './book/turn-page.ts';
import { checkpoints, memoryOf, type CheckpointFailure } from './checkpoints/checkpoints.ts';
import { notingStore } from './checkpoints/noting-store.ts';
import { EMPTY_EVENT_LOG, recordEvent, type EventLog, type Happened } from './events/event-log.ts';
import { eviction } from './eviction/eviction.ts';
import { returns } from './eviction/returns.ts';
import { pleg, type PlegHealth } from './pleg/pleg.ts';
import type { ProbePorts, ProbeReport } from './probes/probe.ts';
import { prober } from './probes/prober.ts';
import { runtimeState, type RuntimeState } from './runtime-state/runtime-state.ts';
import { traceActions } from './trace/trace-actions.ts';
import { tracePage, whoseIs } from './trace/trace-page.ts';
import type { PodOutcome, PodReport } from './workers/pod-work.ts';
import { podWorkers } from './workers/pod-workers.ts';

/** What the agent has to tell. Nothing here has happened until someone subscribes. */
export interface Agent extends Upkeep {
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
  const fed = feedback();
  const { outcomes } = fed;
  const books = new Subject<PodBook>();
  const busy = new Set<PodUid>();
  const settled = tellByKey<PodUid, PodOutcome>();
  const statuses = new Map(world.kept.flatMap(({ uid, status }) => (status ? [[uid, status] as const] : [])));
  const evictions = new Map(world.kept.flatMap(({ uid, eviction }) => (eviction ? [[uid, eviction] as const] : [])));
  let book = emptyBook({ ...world.facts, statuses, eviction: { backoff: world.backoff, kept: evictions } });
  let listed: Snapshot['pods'] = new Map();
  let held: ReadonlySet<string> | undefined;

  const runtime$ = runtimeState(world.cri, timings.statusPeriod, world.listening$).pipe(shareLatest());

  const { sighting$, snapshot$, recovered$, health$ } = pleg(
    {
      listPods: world.listPods,
      observePod: world.observePod,
      revision: world.revisions.current,
      nudge$: runtime$.pipe(
        pairwise(), // at first it is listed anyway
        filter(([before, now]) => !before.ready && now.ready),
      ),
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
      settled: (uid) => defer(() => (busy.has(uid) ? settled.of(uid).pipe(take(1)) : of(undefined))),
    },
    timings.pleg,
  );

  const plegHealth$ = health$.pipe(shareLatest());

  const probe$ = defer(() =>
    prober(books, { probe: world.probe, random: world.random, seed: seedOf(world) }, asyncScheduler.now()),
  ).pipe(share());

  const kill$: Observable<BookEvent> = merge(
    (world.localUsage ? eviction(books, { ...world, usage: world.localUsage }) : EMPTY).pipe(
      map((kill) => ({ kind: 'evict' as const, ...kill })),
    ),
    returns(books).pipe(map((uid) => ({ kind: 'return' as const, uid }))),
  );

  const event$ = bookEvents(world, { runtime$, snapshot$, sighting$, recovered$ }, fed);

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
        if (report.kind === 'starting') fed.starts.next(report);
        if (report.kind !== 'outcome') return;
        busy.delete(report.uid);
        outcomes.next(report.outcome);
        settled.tell(report.uid, report.outcome);
      }),
    ),
    snapshot$.pipe(
      tap(({ pods }) => {
        listed = pods;
        held = undefined;
      }),
      ignoreElements(),
    ),
    page$.pipe(emitAll(({ notes }) => notes.map((one): PodReport => ({ kind: 'note', ...one })))),
    probe$.pipe(
      tap((report) => {
        fed.findings.next(report);
      }),
      emitAll(probeNotes),
    ),
    kill$.pipe(
      tap((kill) => {
        fed.kills.next(kill);
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

  /** Housekeeping asks for it once a minute, and relists come more often. */
  function heldContainers(): ReadonlySet<string> {
    held ??= new Set([...listed.values()].flatMap(({ containers }) => containers.map(({ id }) => id)));
    return held;
  }

  /** With which status each pod was last written to disk. */
  const told = new Map<PodUid, PodStatus | undefined>(statuses);
  const kept = upkeep(world, timings.housekeepingPeriod, {
    book$,
    book: () => book,
    isInRuntime: (uid) => listed.has(uid),
    isHeld: (containerId) => heldContainers().has(containerId),
    told: (uid) => told.get(uid),
  });

  const note$ = happenings({ report$, imageGc$: kept.imageGc$ }, () => book, world.imageGc?.nodeName ?? '').pipe(
    share(),
  );
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
    ...kept,
    checkpoint$: checkpoints({ book$, report$ }, notingStore(world.checkpoints, told), world.kept),
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
