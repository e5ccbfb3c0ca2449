import {
  asyncScheduler,
  catchError,
  combineLatest,
  concat,
  concatMap,
  connect,
  defaultIfEmpty,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  observeOn,
  of,
  startWith,
  switchMap,
  take,
  timer,
  type Observable,
} from 'rxjs';
import { deepEqual } from '../model/deep-equal.ts';
import type { Desired } from '../model/desired.ts';
import { messageOf } from '../model/errors.ts';
import { expandWorkloads, NO_WORKLOADS, type WorkloadMemory } from '../model/workloads/expand-workloads.ts';
import type { PodSights } from '../model/workloads/pod-sight.ts';
import { conflateMap } from '../operators/conflate-map.ts';

/** Where the memory of workloads is kept. Cold Observables that emit once; both may error. */
export interface WorkloadStore {
  /** Emits `undefined` where nothing is kept. */
  readonly load: () => Observable<WorkloadMemory | undefined>;
  readonly save: (memory: WorkloadMemory) => Observable<undefined>;
}

interface Expanded {
  readonly desired: Desired;
  readonly memory: WorkloadMemory;
}

/**
 * Puts in the place of a source's workloads the pods that they want at the moment; `sights$` tells how those are.
 *
 * ```text
 * desired$    d---------------e---     d: a Job of two pods, one at a time   e: without it
 * sights$     ----s-------t-------     s: the first pod has succeeded   t: the second
 * result      p---q---------------p'   p: the first pod   q: and the second   p': none
 * ```
 *
 * What has come of a workload is kept in `store`, so that a restarted agent goes on where it was. Where that cannot be
 * written, it is a problem. Sights are heard a moment later, since they follow from what is emitted here. Errors and
 * completes with the source.
 */
export function expandDesired(
  desired$: Observable<Desired>,
  sights$: Observable<PodSights>,
  store: WorkloadStore,
): Observable<Desired> {
  return load(store).pipe(
    concatMap((kept) => expanded(desired$, sights$, kept)),
    connect((shared$) =>
      combineLatest([
        shared$.pipe(map(({ desired }) => desired)),
        concat(of(undefined), merge(trouble(shared$, store), shared$.pipe(ignoreElements()))),
      ]),
    ),
    map(([desired, trouble]): Desired => {
      if (trouble === undefined) return desired;
      const { source } = desired;
      return { ...desired, problems: [...desired.problems, { source, origin: source, message: trouble }] };
    }),
    distinctUntilChanged<Desired>(deepEqual),
  );
}

function expanded(
  desired$: Observable<Desired>,
  sights$: Observable<PodSights>,
  kept: WorkloadMemory,
): Observable<Expanded> {
  return defer(() => {
    let memory = kept;
    const seen$ = sights$.pipe(observeOn(asyncScheduler), startWith<PodSights>(new Map()));
    return combineLatest([desired$, seen$]).pipe(
      switchMap(([desired, sights]) => {
        // Who has not been heard has not said that a workload is gone.
        if (desired.unheard) return of({ desired, memory });
        const step$: Observable<Expanded> = defer(() => {
          const now = asyncScheduler.now();
          const { pods, problems, wakeAt, ...after } = expandWorkloads(memory, desired.objects ?? [], sights, now);
          memory = deepEqual(memory, after.memory) ? memory : after.memory;
          const whole = { ...desired, pods: [...desired.pods, ...pods], problems: [...desired.problems, ...problems] };
          const later$ = wakeAt === undefined ? EMPTY : timer(Math.min(LONGEST_TIMER, wakeAt - now));
          return concat(of({ desired: whole, memory }), later$.pipe(concatMap(() => step$)));
        });
        return step$;
      }),
    );
  });
}

/** Milliseconds that a timer can be set to at most. */
const LONGEST_TIMER = 2 ** 31 - 1;

function load(store: WorkloadStore): Observable<WorkloadMemory> {
  return defer(store.load).pipe(
    catchError(() => of(undefined)),
    take(1),
    map((memory) => memory ?? NO_WORKLOADS),
    defaultIfEmpty(NO_WORKLOADS),
  );
}

/** Emits what is wrong with saving, or nothing where all is well again. */
function trouble(expanded$: Observable<Expanded>, store: WorkloadStore): Observable<string | undefined> {
  return expanded$.pipe(
    map(({ memory }) => memory),
    distinctUntilChanged(),
    conflateMap<WorkloadMemory, string | undefined>({
      work: (memory) => store.save(memory).pipe(map(() => undefined)),
      recover: (error) => `what has come of workloads cannot be remembered: ${messageOf(error)}`,
    }),
  );
}
