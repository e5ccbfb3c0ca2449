import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  map,
  mergeMap,
  of,
  take,
  type Observable,
} from 'rxjs';
import { pullSecrets } from '../model/credentials/pull-secrets.ts';
import { configHash, RESTART_ANNOTATION } from '../model/env/config-hash.ts';
import { podCgroup } from '../model/cgroup.ts';
import { allContainers } from '../model/containers.ts';
import { messageOf } from '../model/errors.ts';
import type { ObservedPod } from '../model/observed.ts';
import type { PodMemory } from '../model/pod-memory.ts';
import type { PodUid } from '../model/pod.ts';
import type { QosClass } from '../model/qos.ts';
import type { PodActions } from '../streams/workers/pod-workers.ts';
import type { PodNote, PodOutcome, PodReport, PodWork, WaitingReasons } from '../streams/workers/pod-work.ts';
import { cleanUpPod } from './clean-up-pod.ts';
import { ensureImage, withTag } from './ensure-image.ts';
import type { Observer } from './observe.ts';
import { performPlan, type PerformContext } from './perform-plan.ts';
import type { Known } from './plan-context.ts';
import { planPod, type PodPlan } from './plan-pod.ts';
import { newestOf } from './plan-steps.ts';
import { stopPod, type Ending } from './stop-pod.ts';
import { overLimit } from './volumes/over-limit.ts';
import { refreshVolumes } from './volumes/set-up-volumes.ts';
import { releaseVolumes } from './volumes/tear-down-volumes.ts';
import { VolumeError } from './volumes/volume-error.ts';

type Sync = Extract<PodWork, { kind: 'sync' }>;
type Prepare = Extract<PodWork, { kind: 'prepare' }>;
type Terminate = Extract<PodWork, { kind: 'terminate' }>;
type CleanUp = Extract<PodWork, { kind: 'cleanUp' }>;

/** Seconds that a failed kill waits before the next, growing with each; milliseconds. */
const FIRST_RETRY = 1_000;

/**
 * Does the work that the workers hand out: looks at the pod, plans, performs, and tells how it went.
 *
 * ```text
 * sync     --o              o: observe; nothing to do
 * report   --(S|)           S: synced
 *
 * sync     --o--p--p-o      p: steps, each with its notes; then it is looked at once more
 * report   -----n--n-(S|)
 * ```
 *
 * Never errors: what fails is an outcome.
 */
export function podActions(observer: Observer, context: PerformContext): PodActions {
  return {
    perform: (work, memory) => {
      switch (work.kind) {
        case 'sync':
          return sync(work, memory, observer, context);
        case 'prepare':
          return prepare(work, memory, context);
        case 'terminate':
          return terminate(work, memory, observer, context);
        case 'cleanUp':
          return cleanUp(work, memory, observer, context);
      }
    },
  };
}

function sync(work: Sync, former: PodMemory, observer: Observer, context: PerformContext): Observable<PodReport> {
  const { uid, pod } = work;
  const memory = { ...former, activeSince: former.activeSince ?? activeSinceOf(work, context) };
  const look$ = work.observed && work.observed.revision > memory.actedAt ? of(work.observed) : observer.observePod(uid);

  return hashesOf(work, context).pipe(
    concatMap((hashes) => look$.pipe(map((observed) => ({ hashes, observed })))),
    concatMap(({ hashes, observed }) => {
      const known = knownOf(work, hashes, memory, context);
      const plan = planPod(pod, observed, memory, asyncScheduler.now(), context.backoff, known);
      if (plan.steps.length === 0) {
        return concat(
          from(verdictNotes(work, plan)),
          tendVolumes(work, plan, context),
          from(settled(work, observed, plan, context)),
        );
      }
      return performPlan(plan, pod, observed, memory, context).pipe(
        concatMap((progress): Observable<PodReport> => {
          if (progress.kind === 'note') return of({ kind: 'note', uid, note: progress.note });
          const acted = {
            ...plan.memory,
            pulls: progress.pulls,
            mounts: new Map(),
            actedAt: context.revisions.current(),
          };
          return observer
            .observePod(uid)
            .pipe(
              mergeMap((after) =>
                hashesOf(work, context).pipe(
                  mergeMap((fresh) => afterwards(work, fresh, after, progress.failures, acted, context)),
                ),
              ),
            );
        }),
        catchError((error: unknown) =>
          of<PodReport[]>(
            ...failureNotes(plan, error).map((note): PodReport => ({ kind: 'note', uid, note })),
            failed(
              work,
              {
                ...plan.memory,
                // A sandbox that could not be made is none that ended soon: the ordinary retry is wait enough.
                sandbox: memory.sandbox,
                mounts: error instanceof VolumeError ? error.failures : memory.mounts,
                actedAt: context.revisions.current(),
              },
              error,
              error instanceof VolumeError ? untilMount(error, context) : context.retryPeriod * jitter(context),
              observed,
            ),
          ),
        ),
      );
    }),
    catchError((error: unknown) => of(failed(work, memory, error, context.retryPeriod * jitter(context)))),
  );
}

/** Why the pod as a whole is ended, told once when that begins. */
function verdictNotes({ uid }: Sync, { verdict }: PodPlan): readonly PodReport[] {
  if (!verdict) return [];
  return [{ kind: 'note', uid, note: { level: 'Normal', reason: verdict.reason, message: verdict.message } }];
}

/** Everything is as it should be, or waits for a time that is known. */
function settled(work: Sync, observed: ObservedPod, plan: PodPlan, context: PerformContext): readonly PodReport[] {
  const resync = context.resyncPeriod * jitter(context);
  const next = plan.wakeAt === undefined ? resync : Math.min(resync, Math.max(0, plan.wakeAt - asyncScheduler.now()));
  const outcome: PodOutcome = {
    kind: 'synced',
    uid: work.uid,
    work,
    observed,
    waiting: plan.waiting,
    finished: plan.finished,
    ...(plan.verdict ? { verdict: plan.verdict } : {}),
    next,
  };
  return [
    ...backOffNotes(work, plan),
    { kind: 'outcome', uid: work.uid, outcome, memory: { ...plan.memory, failures: 0 } },
  ];
}

/** What the work knows beside the observation; that one may be old by now. */
function knownOf(
  { probes, status }: Sync,
  configHashes: ConfigHashes,
  { activeSince }: PodMemory,
  { monotonic }: PerformContext,
): Known {
  return {
    probes,
    status,
    configHashes,
    ...(activeSince === undefined ? {} : { activeFor: monotonic() - activeSince }),
  };
}

type ConfigHashes = NonNullable<Known['configHashes']>;

const NO_HASHES: ConfigHashes = new Map();

/** Of the containers that are to follow a change of the objects behind their variables. */
function hashesOf({ pod }: Sync, { objects$ }: PerformContext): Observable<ConfigHashes> {
  if (pod.metadata.annotations[RESTART_ANNOTATION] !== 'true') return of(NO_HASHES);
  return objects$.pipe(
    take(1),
    map((objects) => {
      const hashes = allContainers(pod.spec).map((container) => [container.name, configHash(pod, container, objects)]);
      return new Map(hashes.filter((entry): entry is [string, string] => entry[1] !== undefined));
    }),
  );
}

/**
 * The wall clock is asked once, for what the pod lived through under an earlier run of the agent: later jumps of it
 * neither end a pod before its deadline nor let it live on.
 */
function activeSinceOf({ status }: Sync, { monotonic }: PerformContext): number {
  const now = asyncScheduler.now();
  const startedAt = status?.startTime === undefined ? now : Date.parse(status.startTime);
  return monotonic() - Math.max(0, now - startedAt);
}

/** One for every container that waits for the end of its back-off; the event log counts them. */
function backOffNotes({ uid, pod: { metadata } }: Sync, { waiting }: PodPlan): readonly PodReport[] {
  return [...waiting]
    .filter(([, { reason }]) => reason === 'CrashLoopBackOff')
    .map(([container]): PodReport => {
      const of = `${metadata.name}_${metadata.namespace}(${uid})`;
      const message = `Back-off restarting failed container ${container} in pod ${of}`;
      return { kind: 'note', uid, note: { level: 'Warning', reason: 'BackOff', message, container } };
    });
}

/** After the steps the pod is looked at again: what it needs now decides when it gets its next turn. */
function afterwards(
  work: Sync,
  hashes: ConfigHashes,
  observed: ObservedPod,
  failures: WaitingReasons,
  memory: PodMemory,
  context: PerformContext,
): Observable<PodReport> {
  const now = asyncScheduler.now();
  const known = knownOf(work, hashes, memory, context);
  const plan = planPod(work.pod, observed, memory, now, context.backoff, known);
  if (failures.size === 0 && plan.steps.length === 0) {
    // Of a pod that goes on the volumes have just been made ready.
    return concat(
      plan.finished ? tendVolumes(work, plan, context) : EMPTY,
      from(settled(work, observed, plan, context)),
    );
  }

  // What was made and ended in starting is a container that ended, and its restart is planned like any other.
  const isStuck = [...failures.keys()].some((name) => newestOf(observed, name)?.state !== 'exited');
  const retry = isStuck ? untilRetry(memory.pulls, context) : growing(memory.failures, context);
  const wake = plan.wakeAt === undefined ? retry : Math.min(retry, Math.max(0, plan.wakeAt - now));
  const outcome: PodOutcome = {
    kind: 'synced',
    uid: work.uid,
    work,
    observed,
    waiting: new Map([...plan.waiting, ...failures]),
    finished: false,
    ...(plan.verdict ? { verdict: plan.verdict } : {}),
    next: wake,
  };
  return of({ kind: 'outcome', uid: work.uid, outcome, memory: { ...memory, failures: memory.failures + 1 } });
}

/** Brings the images of every container to the node, one after another; who has them all is prepared. */
function prepare(work: Prepare, memory: PodMemory, context: PerformContext): Observable<PodReport> {
  const { uid, pod } = work;
  const pulls = new Map(memory.pulls);
  const remembered = (): PodMemory => ({ ...memory, pulls });
  return concat(
    ...allContainers(pod.spec).map((container) =>
      context.objects$.pipe(
        take(1),
        concatMap((objects) => ensureImage(container, remembered(), context.images, pullSecrets(pod, objects))),
        mergeMap((step): readonly PodReport[] => {
          if (step.kind === 'failedPull') pulls.set(withTag(container.image ?? ''), step.failure);
          if (step.kind === 'image') pulls.delete(withTag(container.image ?? ''));
          return step.kind === 'note' && step.note.reason !== 'Pulled'
            ? [{ kind: 'note', uid, note: { ...step.note, container: container.name } }]
            : [];
        }),
      ),
    ),
    defer(() =>
      of<PodReport>({ kind: 'outcome', uid, outcome: { kind: 'prepared', uid, work }, memory: remembered() }),
    ),
  ).pipe(
    catchError((error: unknown) => {
      return of(failed(work, remembered(), error, untilRetry(pulls, context)));
    }),
  );
}

/** The ordinary wait, or less where a pull may be tried sooner; one whose time has passed is no reason to hurry. */
function untilRetry(pulls: PodMemory['pulls'], context: PerformContext): number {
  const now = asyncScheduler.now();
  const waits = [...pulls.values()].map(({ until }) => until - now).filter((left) => left > 0);
  return Math.min(context.retryPeriod * jitter(context), ...waits);
}

function terminate(
  work: Terminate,
  memory: PodMemory,
  observer: Observer,
  context: PerformContext,
): Observable<PodReport> {
  const { uid, grace } = work;
  return observer.observePod(uid).pipe(
    concatMap((before) =>
      concat(
        stopPod(before, grace, '', endingOf(work, before, context)).pipe(
          map((note): PodReport => ({ kind: 'note', uid, note })),
        ),
        defer(() => observer.observePod(uid)).pipe(
          map((observed): PodReport => {
            const acted = { ...memory, actedAt: context.revisions.current() };
            const left = stillUp(observed);
            if (left.length > 0) {
              return failed(
                work,
                acted,
                new Error(`still running after the kill: ${left.join(', ')}`),
                growing(memory.failures + 1, context),
                observed,
              );
            }
            return {
              kind: 'outcome',
              uid,
              outcome: { kind: 'ended', uid, work, observed },
              memory: { ...acted, failures: 0 },
            };
          }),
        ),
      ),
    ),
    catchError((error: unknown) =>
      of<PodReport[]>(
        {
          kind: 'note',
          uid,
          note: { level: 'Warning', reason: 'FailedKillPod', message: `error killing pod: ${messageOf(error)}` },
        },
        failed(work, memory, error, growing(memory.failures + 1, context)),
      ),
    ),
  );
}

/** A sandbox too: a call that was cancelled may have had its effect only after the kill. */
function stillUp({ containers, sandboxes }: ObservedPod): readonly string[] {
  return [
    ...containers.filter(({ state }) => state === 'running').map(({ name }) => name),
    ...sandboxes.filter(({ state }) => state === 'ready').map(({ attempt }) => `sandbox ${attempt}`),
  ];
}

function endingOf({ pod }: Terminate, { sandboxes }: ObservedPod, { cri, http }: PerformContext): Ending {
  return { cri, http, pod, podIp: sandboxes[0]?.ips?.[0] };
}

function cleanUp(work: CleanUp, memory: PodMemory, observer: Observer, context: PerformContext): Observable<PodReport> {
  const { uid } = work;
  return concat(
    cleanUpPod(work.of, cgroupsOf(uid, context), observer, context),
    of<PodReport>({ kind: 'outcome', uid, outcome: { kind: 'cleanedUp', uid, work } }),
  ).pipe(catchError((error: unknown) => of(failed(work, memory, error, growing(memory.failures + 1, context)))));
}

function failed(work: PodWork, memory: PodMemory, error: unknown, next: number, observed?: ObservedPod): PodReport {
  const outcome: PodOutcome = { kind: 'failed', uid: work.uid, work, error, next, ...(observed ? { observed } : {}) };
  return { kind: 'outcome', uid: work.uid, outcome, memory: { ...memory, failures: memory.failures + 1 } };
}

function failureNotes(plan: PodPlan, error: unknown): readonly PodNote[] {
  const makesSandbox = plan.steps.some(({ do: what }) => what === 'runSandbox');
  if (error instanceof VolumeError)
    return error.news.map((message) => ({ level: 'Warning', reason: 'FailedMount', message }));
  const message = messageOf(error);
  return [
    makesSandbox
      ? { level: 'Warning', reason: 'FailedCreatePodSandBox', message: `Failed to create pod sandbox: ${message}` }
      : { level: 'Warning', reason: 'FailedSync', message: `error syncing pod: ${message}` },
  ];
}

/** Until the first of the volumes that are not ready may be tried again; milliseconds. */
function untilMount({ failures }: VolumeError, context: PerformContext): number {
  const waits = [...failures.values()].map(({ until }) => until - asyncScheduler.now());
  return waits.length === 0 ? context.retryPeriod * jitter(context) : Math.max(0, Math.min(...waits));
}

/**
 * Looks after the volumes of a pod that needs nothing else: files of ours follow what the pod says of itself, emptyDirs
 * are measured, and those of a pod that is done for good are given back.
 */
function tendVolumes({ uid, pod }: Sync, { finished }: PodPlan, context: PerformContext): Observable<PodReport> {
  if ((pod.spec.volumes ?? []).length === 0) return EMPTY;
  const tended$ = finished
    ? releaseVolumes(uid, context)
    : concat(refreshVolumes(pod, context), overLimit(pod, context));
  return tended$.pipe(
    catchError((error: unknown) =>
      of<PodNote>({ level: 'Warning', reason: finished ? 'FailedUnMount' : 'FailedMount', message: messageOf(error) }),
    ),
    map((note): PodReport => ({ kind: 'note', uid, note })),
  );
}

/** At once, then 1, 2, 4, ... seconds, up to the ordinary retry; milliseconds. */
function growing(failures: number, { retryPeriod }: PerformContext): number {
  return failures === 0 ? 0 : Math.min(retryPeriod, FIRST_RETRY * 2 ** (failures - 1));
}

/** A factor in [1, 1.5), so that pods which failed together do not all come back together. */
function jitter({ random }: PerformContext): number {
  return 1 + random() / 2;
}

/** Where the cgroup of a pod can be; of a pod whose manifest is gone nobody knows the QoS class any more. */
function cgroupsOf(uid: PodUid, { config, facts }: PerformContext): readonly string[] {
  if (!config.cgroupsPerQOS) return [];
  return QOS_CLASSES.map((qos) => podCgroup(config.cgroupRoot, facts.cgroupDriver, qos, uid));
}

const QOS_CLASSES = ['Guaranteed', 'Burstable', 'BestEffort'] as const satisfies readonly QosClass[];
