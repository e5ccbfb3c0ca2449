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
import { allContainers } from '../../model/containers.ts';
import { configHash } from '../../model/env/config-hash.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../model/rxlet-annotations.ts';
import { messageOf } from '../../model/errors.ts';
import { newerLook } from '../../model/newer-look.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import { identityIn } from '../../streams/trace/trace-page.ts';
import type { PodNote, PodOutcome, PodReport, PodWork, WaitingReasons } from '../../streams/workers/pod-work.ts';
import type { Observer } from '../observe.ts';
import type { PerformContext } from '../perform-context.ts';
import { performPlan } from '../perform-plan.ts';
import type { Known } from '../plan-context.ts';
import { planPod, type PodPlan } from '../plan-pod.ts';
import { newestOf, type Step } from '../plan-steps.ts';
import { tendVolumes } from '../volumes/tend-volumes.ts';
import { VolumeError } from '../volumes/volume-error.ts';
import { failed } from './failed.ts';
import { growing, jitter, untilMount, untilRetry } from './retry-times.ts';

type Sync = Extract<PodWork, { kind: 'sync' }>;

/** Makes the runtime hold what the pod asks for: looks, plans, performs, and looks once more. */
export function syncPod(
  work: Sync,
  former: PodMemory,
  observer: Observer,
  context: PerformContext,
): Observable<PodReport> {
  const { uid, pod } = work;
  const memory = { ...former, activeSince: former.activeSince ?? activeSinceOf(work, context) };
  // What came while the last work went on may be older than the look with which that has ended.
  const known = work.observed && newerLook(work.observed, memory.seen);
  const seen = known && known.revision > memory.actedAt ? known : undefined;

  function follow(hashes: ConfigHashes, observed: ObservedPod): Observable<PodReport> {
    const known = knownOf(work, hashes, memory, context);
    const plan = planPod(pod, observed, memory, asyncScheduler.now(), context.backoff, known);
    if (plan.steps.length === 0) {
      const settled$ = from(settled(work, observed, plan, context));
      return hasVolumes(work) ? concat(tended(work, plan, context), settled$) : settled$;
    }
    context.trace?.({ kind: 'plan', pod: identityIn(work), steps: plan.steps.map(nameOfStep) });
    return performPlan(plan, pod, observed, memory, context).pipe(
      concatMap((progress): Observable<PodReport> => {
        if (progress.kind === 'note') return of({ kind: 'note', uid, note: progress.note });
        if (progress.kind === 'starting') return of({ kind: 'starting', uid, container: progress.container });
        const acted = {
          ...plan.memory,
          pulls: progress.pulls,
          limits: progress.limits,
          mounts: new Map(),
          actedAt: context.revisions.current(),
        };
        return observer
          .observePod(uid)
          .pipe(
            mergeMap((after) =>
              hashesOf(work, context).pipe(
                mergeMap((fresh) =>
                  afterwards(work, fresh, after, progress.failures, { ...acted, seen: after }, context),
                ),
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
              limits: undefined,
              actedAt: context.revisions.current(),
            },
            error,
            error instanceof VolumeError ? untilMount(error, context) : context.retryPeriod * jitter(context),
            observed,
          ),
        ),
      ),
    );
  }

  // Mostly all is known already, and nothing is to be done.
  const followed$ =
    seen && !followsConfig(work)
      ? defer(() => follow(NO_HASHES, seen))
      : hashesOf(work, context).pipe(
          concatMap((hashes) =>
            (seen ? of(seen) : observer.observePod(uid)).pipe(concatMap((observed) => follow(hashes, observed))),
          ),
        );
  return followed$.pipe(
    catchError((error: unknown) => of(failed(work, memory, error, context.retryPeriod * jitter(context)))),
  );
}

/** For people. */
function nameOfStep(step: Step): string {
  return 'container' in step ? `${step.do} ${step.container.name}` : step.do;
}

/** Everything is as it should be, or waits for a time that is known. */
function settled(work: Sync, observed: ObservedPod, plan: PodPlan, context: PerformContext): readonly PodReport[] {
  const resync = context.resyncPeriod * jitter(context) * (isCalm(work, plan) ? CALM : 1);
  const next = plan.wakeAt === undefined ? resync : Math.min(resync, untilMoment(plan.wakeAt, asyncScheduler.now()));
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

/** A pod at rest is looked at so many times as seldom. */
const CALM = 10;

/** All that could change it comes by itself: sightings, findings of probes, other manifests. */
function isCalm(work: Sync, { waiting }: PodPlan): boolean {
  return waiting.size === 0 && !hasVolumes(work) && !followsConfig(work);
}

/** Whole milliseconds, as timers count: one that ends a little before the moment would only bring the next one. */
function untilMoment(moment: number, now: number): number {
  return Math.ceil(Math.max(0, moment - now));
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

function followsConfig({ pod }: Sync): boolean {
  return pod.metadata.annotations[RESTART_ON_CONFIG_CHANGE] === 'true';
}

/** Of the containers that are to follow a change of the objects behind their variables. */
function hashesOf(work: Sync, { objects$ }: PerformContext): Observable<ConfigHashes> {
  const { pod } = work;
  if (!followsConfig(work)) return of(NO_HASHES);
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
    return concat(plan.finished ? tended(work, plan, context) : EMPTY, from(settled(work, observed, plan, context)));
  }

  // What was made and ended in starting is a container that ended, and its restart is planned like any other.
  const isStuck = [...failures.keys()].some((name) => newestOf(observed, name)?.state !== 'exited');
  const retry = isStuck ? untilRetry(memory.pulls, context) : growing(memory.failures, context);
  const wake = plan.wakeAt === undefined ? retry : Math.min(retry, untilMoment(plan.wakeAt, now));
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

function hasVolumes({ pod }: Sync): boolean {
  return (pod.spec.volumes ?? []).length > 0;
}

function tended({ uid, pod }: Sync, { finished }: PodPlan, context: PerformContext): Observable<PodReport> {
  return tendVolumes(pod, finished, context).pipe(map((note): PodReport => ({ kind: 'note', uid, note })));
}
