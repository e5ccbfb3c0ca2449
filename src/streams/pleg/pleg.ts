import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  pairwise,
  share,
  startWith,
  switchMap,
  take,
  tap,
  timeout,
  timer,
  type Observable,
} from 'rxjs';
import { messageWithCall } from '../../model/errors.ts';
import type { ObservedPod, Revision, Snapshot } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import { conflateMap } from '../../operators/conflate-map.ts';
import { emitAll } from '../../operators/emit-all.ts';
import { serializeByKey } from '../../operators/serialize-by-key.ts';
import { diffPod, isEmpty, isSamePod, type PodLifecycleEvent } from './diff-pod.ts';
import { shows, type Hint } from './hint.ts';

export interface PlegPorts {
  /** Lists everything the runtime holds, once; the entries need not be inspected. */
  readonly listPods: () => Observable<Snapshot>;
  /** Lists and inspects one pod; an empty one where the runtime holds nothing of it. `listed` spares the listing. */
  readonly observePod: (uid: PodUid, listed?: ObservedPod) => Observable<ObservedPod>;
  /** The newest revision drawn so far. */
  readonly revision: () => Revision;
  /** Asks for a relist of everything before the next tick is due. */
  readonly nudge$: Observable<unknown>;
  /** Something happened to this pod, says the runtime. Only ever a hint: the state comes from listing. */
  readonly hint$: Observable<Hint>;
  /** Whether hints come at all: then relists are only the safety net. Emits at once. */
  readonly listening$: Observable<boolean>;
  /** Observations that others made on the way; they spare us finding the same out again. */
  readonly known$: Observable<ObservedPod>;
  /** Emits once the pod is not being worked on: whoever works on it will observe it anyway. */
  readonly settled: (uid: PodUid) => Observable<unknown>;
}

export interface PlegTimings {
  /** Milliseconds between two relists. */
  readonly period: number;
  /** The same while the runtime tells by itself what happens. */
  readonly listeningPeriod: number;
  /** Milliseconds for which no relist starts after one has ended. */
  readonly cooldown: number;
  /** Milliseconds without a successful relist after which the PLEG is unhealthy (kubelet: 3 minutes). */
  readonly threshold: number;
  /** Milliseconds that the inspection of one pod may take. */
  readonly deadline: number;
  /** Milliseconds that the death of something waits at most to be looked at for the work on its pod to end. */
  readonly patience: number;
  /** The same for what has only begun: mostly it is the work itself that has begun it, and will look at it. */
  readonly patienceWithBeginnings: number;
}

/** A pod that changed: what happened, and what it is like now. */
export interface PodSighting {
  readonly pod: ObservedPod;
  readonly events: readonly PodLifecycleEvent[];
}

export interface PlegHealth {
  readonly healthy: boolean;
  /** What the runtime last failed to answer, where it is known. */
  readonly message: string;
}

export interface Pleg {
  /** One item per changed pod, inspected. Never errors; completes with the nudges' and hints' sources never. */
  readonly sighting$: Observable<PodSighting>;
  /** Every successful relist, after the one that brought it; uninspected. */
  readonly snapshot$: Observable<Snapshot>;
  /** Emits when a relist succeeds after one that failed: the runtime is back. */
  readonly recovered$: Observable<unknown>;
  /** Starts healthy; emits on change only. */
  readonly health$: Observable<PlegHealth>;
}

type Relist = { readonly ok: true; readonly snapshot: Snapshot } | { readonly ok: false; readonly error: unknown };

interface Suspect {
  readonly uid: PodUid;
  readonly since: Revision;
  readonly listed?: ObservedPod;
  /** What the runtime says, though its lists may not show it yet: a first look without that is repeated. */
  readonly hints: readonly Hint[];
}

/** Milliseconds before each further look at a hinted pod. Containerd sends the news before its CRI lists know it. */
const SECOND_LOOKS = [15, 40, 100, 200];

/**
 * Relists the runtime on a period and tells what changed in between, pod by pod.
 *
 * ```text
 * tick        0---------1---------2--------
 * listPods    -s|       -#        -s|         a failed relist is not a diff
 * observePod  -i|                 -i|         only of pods that changed
 * sighting    --p------------------p-------
 * ```
 *
 * A relist never overlaps another; a nudge during one runs one more. A pod is compared with what was last *told*
 * of it, so a failed or slow inspection is repeated at the next relist and holds up no other pod.
 */
export function pleg(ports: PlegPorts, timings: PlegTimings): Pleg {
  const relist$ = relists(ports, timings).pipe(share());
  const snapshot$ = relist$.pipe(
    filter((relist) => relist.ok),
    map(({ snapshot }) => snapshot),
    share(),
  );
  return {
    sighting$: sightings(snapshot$, ports, timings).pipe(share()),
    snapshot$,
    recovered$: relist$.pipe(
      pairwise(),
      filter(([before, now]) => !before.ok && now.ok),
    ),
    health$: health(relist$, timings),
  };
}

function relists(
  { listPods, nudge$, listening$ }: PlegPorts,
  { period, listeningPeriod, cooldown }: PlegTimings,
): Observable<Relist> {
  const once$ = defer(listPods).pipe(
    map((snapshot): Relist => ({ ok: true, snapshot })),
    catchError((error: unknown) => of<Relist>({ ok: false, error })),
  );
  // Begins anew, and at once, whenever that changes: what happened in between was told by no hint.
  const tick$ = listening$.pipe(switchMap((listening) => timer(0, listening ? listeningPeriod : period)));
  return merge(tick$, nudge$).pipe(
    conflateMap({
      work: () => concat(once$, timer(cooldown).pipe(ignoreElements())),
      recover: (error): Relist => ({ ok: false, error }),
    }),
  );
}

function sightings(
  snapshot$: Observable<Snapshot>,
  { observePod, hint$, known$, revision, settled }: PlegPorts,
  { deadline, patience, patienceWithBeginnings }: PlegTimings,
): Observable<PodSighting> {
  return defer(() => {
    const told = new Map<PodUid, ObservedPod>();
    const revisionTold = (uid: PodUid): Revision => told.get(uid)?.revision ?? -1;

    function learn(pod: ObservedPod): readonly PodLifecycleEvent[] {
      const before = told.get(pod.uid);
      if (before && before.revision >= pod.revision) return [];
      if (isEmpty(pod)) told.delete(pod.uid);
      else told.set(pod.uid, pod);
      return diffPod(before, pod);
    }

    /** What was told already needs no look; of a hint that does not say what to look for, what was told since is enough. */
    function isTold({ uid, since, hints }: Suspect): boolean {
      const isNewer = revisionTold(uid) > since;
      return hints.length === 0 ? isNewer : hints.every((hint) => (hint.about ? shows(told.get(uid), hint) : isNewer));
    }

    function isUrgent({ uid, listed, hints }: Suspect): boolean {
      if (hints.length > 0)
        return hints.some(({ about }) => about?.became !== 'created' && about?.became !== 'started');
      return diffPod(told.get(uid), listed).some(({ type }) => type === 'ContainerDied' || type === 'ContainerRemoved');
    }

    /** Nothing told changes when this fails or comes too late, so the next relist suspects the pod again. */
    function inspect(suspect: Suspect): Observable<ObservedPod> {
      return merge(settled(suspect.uid), timer(isUrgent(suspect) ? patience : patienceWithBeginnings)).pipe(
        take(1),
        mergeMap(() => look(suspect, suspect.hints.length > 0 ? SECOND_LOOKS : [])),
      );
    }

    function look(suspect: Suspect, delays: readonly number[]): Observable<ObservedPod> {
      if (isTold(suspect)) return EMPTY;
      const { uid, since, listed } = suspect;
      return observePod(uid, listed).pipe(
        timeout(deadline),
        mergeMap((pod) => {
          const isNews = !isSamePod(told.get(uid), pod);
          const hints = suspect.hints.filter((hint) => (hint.about ? !shows(pod, hint) : !isNews));
          const [delay, ...later] = delays;
          if (delay === undefined || hints.length === 0) return of(pod);
          return concat(
            isNews ? of(pod) : EMPTY,
            timer(delay).pipe(mergeMap(() => look({ uid, since, hints }, later))),
          );
        }),
      );
    }

    const suspect$: Observable<Suspect> = merge(
      snapshot$.pipe(emitAll((snapshot) => suspects(snapshot, told))),
      hint$.pipe(map((hint) => ({ uid: hint.uid, since: revision(), hints: [hint] }))),
    );
    const inspected$ = suspect$.pipe(
      serializeByKey({
        key: ({ uid }: Suspect) => uid,
        work: inspect,
        preempts: (arrival, running) => isUrgent(arrival) && !isUrgent(running),
        fold: ({ hints }, arrival) =>
          hints.length === 0 ? arrival : { ...arrival, hints: [...hints, ...arrival.hints] },
        recover: () => undefined,
      }),
      filter((pod) => pod !== undefined),
    );

    return merge(
      inspected$.pipe(
        map((pod) => ({ pod, events: learn(pod) })),
        filter(({ events }) => events.length > 0),
      ),
      known$.pipe(tap(learn), ignoreElements()),
    );
  });
}

/** The pods of which the relist tells something else than what was last told of them. */
function suspects({ pods, revision }: Snapshot, told: ReadonlyMap<PodUid, ObservedPod>): readonly Suspect[] {
  const found: Suspect[] = [];
  for (const [uid, listed] of pods) {
    const before = told.get(uid);
    if (before === undefined || (before.revision < revision && !isSamePod(before, listed))) {
      found.push({ uid, since: revision, listed, hints: [] });
    }
  }
  for (const [uid, before] of told) {
    if (!pods.has(uid) && before.revision < revision) found.push({ uid, since: revision, hints: [] });
  }
  return found;
}

function health(relist$: Observable<Relist>, { threshold }: PlegTimings): Observable<PlegHealth> {
  const healthy: PlegHealth = { healthy: true, message: '' };
  return defer(() => {
    let lastError = '';
    return relist$.pipe(
      tap((relist) => {
        lastError = relist.ok ? '' : messageWithCall(relist.error);
      }),
      filter(({ ok }) => ok),
      startWith(undefined),
      switchMap(() =>
        concat(
          of(healthy),
          timer(threshold).pipe(map(() => ({ healthy: false, message: unhealthy(threshold, lastError) }))),
        ),
      ),
      distinctUntilChanged((a, b) => a.healthy === b.healthy),
    );
  });
}

function unhealthy(threshold: number, lastError: string): string {
  const cause = lastError === '' ? 'the runtime does not answer ListPodSandbox or ListContainers' : lastError;
  return `no relist has succeeded for ${Math.round(threshold / 1_000)} s: ${cause}`;
}
