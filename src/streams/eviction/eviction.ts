import { catchError, defer, EMPTY, mergeMap, of, repeat, timeout, timer, type Observable } from 'rxjs';
import { localLimits, roomLeft, whatIsOver, type LocalLimits } from '../../model/local-storage.ts';
import { changedKeys } from '../../model/layered-map.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { NodePaths } from '../../model/paths.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import { emitAll } from '../../operators/emit-all.ts';
import { switchByKey } from '../../operators/switch-by-key.ts';
import { takeTurns } from '../../operators/take-turns.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';
import type { LocalUsage } from '../ports/local-usage.ts';
import { measurePod } from './measure-pod.ts';

/** That a pod is to be ended for what it takes of the node. */
export interface Kill {
  readonly uid: PodUid;
  /** Why, in the kubelet's words. */
  readonly message: string;
}

export interface EvictionPorts {
  readonly usage: LocalUsage;
  readonly paths: NodePaths;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
}

/** Milliseconds between two looks at a pod, at most (kubelet: 10 s). */
const PERIOD = 10_000;
/** And at least, of one that has just begun or that fills fast. */
const SOONEST = 1_000;
/** So many times as long as a look took, the pod is left alone: looking takes a tenth of a disk's time at the most. */
const REST = 9;
/** Milliseconds after which a look is given up: a tree may be very large, or its disk hang. */
const PATIENCE = 60_000;

/**
 * Tells who takes more of the disk than its limits allow.
 *
 * ```text
 * use      0, 10 more each second; the limit is 100
 * looks    ^---^-------^-------------^------^---^---^     four characters a second
 * result   -----------------------------------------k     k: it is to be ended
 * ```
 *
 * Only pods that are kept and have a limit are looked at, one at a time: from one second after the first look on, every
 * 10 s in the end, and in half of the time in which one would be full. Never errors, never completes before `book$`.
 */
export function eviction(book$: Observable<PodBook>, { usage, paths, monotonic }: EvictionPorts): Observable<Kill> {
  return defer(() => {
    let entries: PodBook['entries'] = new Map();
    const watched = new Set<PodUid>();
    const inTurn$ = takeTurns(1);

    function watch(uid: PodUid): Observable<Kill> {
      let next = SOONEST / 2;
      let before: { readonly left: number; readonly at: number } | undefined;

      function look(): Observable<Kill> {
        const one = limitedIn(entries.get(uid));
        if (!one) return EMPTY;
        return defer(() => {
          const begun = monotonic();
          return measurePod(one.pod, one.observed, one.limits, usage, paths).pipe(
            timeout(PATIENCE),
            mergeMap((use) => {
              const now = monotonic();
              const left = roomLeft(one.limits, use);
              const rate = before ? (before.left - left) / Math.max(1, now - before.at) : 0;
              const due = rate > 0 ? Math.min(next * 2, left / rate / 2) : next * 2;
              before = { left, at: now };
              next = Math.min(PERIOD, Math.max(SOONEST, due));
              const message = whatIsOver(one.limits, use);
              next = Math.max(next, (now - begun) * REST);
              return message === undefined ? EMPTY : of({ uid, message });
            }),
            catchError(() => {
              next = PATIENCE;
              return EMPTY;
            }),
          );
        }).pipe(inTurn$);
      }
      return defer(look).pipe(repeat({ delay: () => timer(next) }));
    }

    return book$.pipe(
      emitAll((book) => {
        const before = entries;
        entries = book.entries;
        return changedKeys(before, entries).filter(
          (uid) => watched.has(uid) !== (limitedIn(entries.get(uid)) !== undefined),
        );
      }),
      switchByKey({
        key: (uid) => uid,
        project: (uid) => {
          if (watched.delete(uid)) return undefined;
          watched.add(uid);
          return watch(uid);
        },
      }),
    );
  });
}

interface Limited {
  readonly pod: Pod;
  readonly observed: ObservedPod | undefined;
  readonly limits: LocalLimits;
}

function limitedIn(entry: Entry | undefined): Limited | undefined {
  if (entry?.phase !== 'syncing' || !entry.pod) return undefined;
  const { pod, observed } = entry;
  const limits = limitsOf(pod);
  return limits && { pod, observed, limits };
}

const LIMITS = new WeakMap<Pod, { readonly limits: LocalLimits | undefined }>();

/** Reckoned once for each manifest: the book turns its pages often. */
function limitsOf(pod: Pod): LocalLimits | undefined {
  const known = LIMITS.get(pod) ?? { limits: localLimits(pod.spec) };
  LIMITS.set(pod, known);
  return known.limits;
}
