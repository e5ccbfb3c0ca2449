import { asyncScheduler, defer, map, timer, type Observable } from 'rxjs';
import { changedKeys } from '../../model/layered-map.ts';
import type { PodUid } from '../../model/pod.ts';
import { leftOf, type Eviction } from '../../model/restart/eviction.ts';
import { emitAll } from '../../operators/emit-all.ts';
import { switchByKey } from '../../operators/switch-by-key.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';

/**
 * Tells of each evicted pod when its wait is over.
 *
 * ```text
 * book$    -e-------x---e--------     e: a pod is to begin anew in 4; x: it is wanted no more
 * result   ------u----------u----     u: its time has come; of one that has gone it never does
 * ```
 *
 * Emits its UID. Never errors, never completes before `book$`.
 */
export function returns(book$: Observable<PodBook>): Observable<PodUid> {
  return defer(() => {
    let before: PodBook['entries'] = new Map();
    return book$.pipe(
      emitAll(({ entries }) => {
        const changed = changedKeys(before, entries).map((uid) => ({
          uid,
          was: awaited(before.get(uid)),
          eviction: awaited(entries.get(uid)),
        }));
        before = entries;
        return changed.filter(({ was, eviction }) => was !== eviction);
      }),
      switchByKey({
        key: ({ uid }) => uid,
        project: ({ uid, eviction }) => eviction && timer(leftOf(eviction, asyncScheduler.now())).pipe(map(() => uid)),
      }),
    );
  });
}

function awaited(entry: Entry | undefined): Eviction | undefined {
  return entry?.phase === 'waiting' && entry.isOut === true ? entry.eviction : undefined;
}
