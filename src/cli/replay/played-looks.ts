import { catchError, EMPTY, filter, mergeMap, Subject, takeUntil, tap, type Observable } from 'rxjs';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Observer } from '../../runtime/observe.ts';

export interface PlayedLooks {
  /** Has to be subscribed to for looks to take place. */
  readonly look$: Observable<unknown>;
  /** Looks at all, or at one pod, which the look named `listed` may have listed. */
  readonly start: (id: number, uid?: PodUid, listed?: number) => void;
  readonly end: (id: number) => void;
  /** What a look has seen, if it has. */
  readonly seen: (id: number) => ObservedPod | Snapshot | undefined;
}

/** Looks of which it is remembered what they saw. */
const MOST = 1_000;

/** Looks at the runtime that begin when the recording says so. */
export function playedLooks({ listPods, observePod }: Observer): PlayedLooks {
  const looks = new Subject<{ readonly id: number; readonly look$: Observable<ObservedPod | Snapshot> }>();
  const ends = new Subject<number>();
  const seen = new Map<number, ObservedPod | Snapshot>();

  function remember(id: number, what: ObservedPod | Snapshot): void {
    seen.set(id, what);
    for (const oldest of seen.keys()) {
      if (seen.size <= MOST) break;
      seen.delete(oldest);
    }
  }

  return {
    look$: looks.pipe(
      mergeMap(({ id, look$ }) =>
        look$.pipe(
          tap((what) => {
            remember(id, what);
          }),
          catchError(() => EMPTY),
          takeUntil(ends.pipe(filter((end) => end === id))),
        ),
      ),
    ),
    start: (id, uid, listed) => {
      const before = listed === undefined ? undefined : seen.get(listed);
      const known = uid !== undefined && before && 'pods' in before ? before.pods.get(uid) : undefined;
      looks.next({ id, look$: uid === undefined ? listPods() : observePod(uid, known) });
    },
    end: (id) => {
      ends.next(id);
    },
    seen: (id) => seen.get(id),
  };
}
