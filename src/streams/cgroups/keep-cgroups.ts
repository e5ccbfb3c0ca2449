import {
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  of,
  switchMap,
  take,
  timer,
  type Observable,
} from 'rxjs';
import { shareLatest } from '../../operators/share-latest.ts';
import { podOfCgroup, podCgroup, qosCgroup, type CgroupDriver } from '../../model/cgroup.ts';
import { burstableCpu, sharesOf } from '../../model/cgroup-limits.ts';
import { messageOf } from '../../model/errors.ts';
import { changedKeys } from '../../model/layered-map.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import type { QosClass } from '../../model/qos.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';
import type { CgroupLimits, Cgroups } from '../ports/cgroups.ts';

export interface CgroupLayout {
  readonly root: string;
  readonly driver: CgroupDriver;
  /** Cgroups with limits that do not depend on pods: that of all pods, and what is kept for others. */
  readonly fixed: ReadonlyMap<string, CgroupLimits>;
}

/** Milliseconds between two times at which all is set anew (facts sheet 11.2). */
const REFRESH = 60_000;

/**
 * Keeps the cgroups above those of the pods as they should be, and removes those of pods that nobody knows any more.
 *
 * ```text
 * book$     -a-----b------      b: a burstable pod more
 * apply     -x-----y---x--      x: everything, at first and every minute; y: the weight of burstable pods
 * ```
 *
 * What is left over is removed only once nothing runs in it: it may be another agent's. `isKnown` tells whether a pod is wanted or in the runtime. Emits sentences about what could not be done, and goes
 * on. Never errors, never completes.
 */
export function keepCgroups(
  book$: Observable<PodBook>,
  cgroups: Cgroups,
  { root, driver, fixed }: CgroupLayout,
  isKnown: (uid: PodUid) => boolean,
): Observable<string> {
  const [burstable, bestEffort] = [qosCgroup(root, driver, 'Burstable'), qosCgroup(root, driver, 'BestEffort')];
  const shares$ = defer(() => book$.pipe(map(sharesIn()), distinctUntilChanged())).pipe(shareLatest());

  function apply(path: string, limits: CgroupLimits): Observable<string> {
    return told(`cgroup ${path}`, () => cgroups.apply(path, limits));
  }

  function weigh(cpuShares: number): Observable<string> {
    return apply(burstable, { cpuShares });
  }

  // Apart from each other: pods that come and go must not hold up what does not depend on them.
  const kept$ = merge(
    shares$.pipe(switchMap(weigh)),
    shares$.pipe(
      take(1),
      switchMap(() => timer(0, REFRESH)),
      exhaustMap(() =>
        concat(
          ...[...fixed].map(([path, limits]) => apply(path, limits)),
          apply(bestEffort, { cpuShares: LEAST }),
          shares$.pipe(take(1), concatMap(weigh)),
        ),
      ),
    ),
  );

  const leftovers$ = book$.pipe(
    filter(({ allSeen, runtimeSeen }) => allSeen && runtimeSeen),
    map(() => true),
    distinctUntilChanged(),
    switchMap(() => timer(0, REFRESH)),
    exhaustMap(() => concat(...CLASSES.map(removeLeftovers))),
  );

  function removeLeftovers(qos: QosClass): Observable<string> {
    return defer(() => cgroups.children(qosCgroup(root, driver, qos))).pipe(
      catchError(() => of([])),
      concatMap((names) => from(names)),
      map((name) => podOfCgroup(name, driver)),
      filter((uid) => uid !== undefined && !isKnown(uid)),
      concatMap((uid) => {
        if (uid === undefined) return EMPTY;
        const path = podCgroup(root, driver, qos, uid);
        return told(`leftover cgroup ${path}`, () => cgroups.remove(path, 'ifEmpty'));
      }),
    );
  }

  return merge(kept$, leftovers$);
}

const CLASSES: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];
const LEAST = 2;

/** Reckons on from one book to the next. What has ended, or has not begun, weighs nothing. */
function sharesIn(): (book: PodBook) => number {
  let before: PodBook['entries'] = new Map();
  let cpu = 0;
  return ({ entries }) => {
    for (const uid of changedKeys(before, entries)) cpu += weightOf(entries.get(uid)) - weightOf(before.get(uid));
    before = entries;
    return sharesOf(cpu);
  };
}

function weightOf(entry: Entry | undefined): number {
  if (!entry?.pod || (entry.phase !== 'syncing' && entry.phase !== 'terminating')) return 0;
  const known = WEIGHTS.get(entry.pod) ?? burstableCpu(entry.pod.spec);
  WEIGHTS.set(entry.pod, known);
  return known;
}

const WEIGHTS = new WeakMap<Pod, number>();

function told(what: string, act: () => Observable<unknown>): Observable<string> {
  return defer(act).pipe(
    ignoreElements(),
    catchError((error: unknown) => of(`${what}: ${messageOf(error)}`)),
  );
}
