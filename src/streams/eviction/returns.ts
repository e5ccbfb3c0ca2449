import { asyncScheduler, defer, map, mergeMap, timer, type Observable } from 'rxjs';
import type { PodUid } from '../../model/pod.ts';
import { leftOf, type Eviction } from '../../model/restart/eviction.ts';
import { switchByKey } from '../../operators/switch-by-key.ts';
import type { PodBook } from '../book/pod-book.ts';

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
    let known: ReadonlyMap<PodUid, Eviction> = new Map();
    return book$.pipe(
      mergeMap((book) => {
        const before = known;
        known = awaitedIn(book);
        const over = [...before.keys()].filter((uid) => !known.has(uid)).map((uid) => ({ uid, eviction: undefined }));
        const news = [...known].filter(([uid, eviction]) => before.get(uid) !== eviction);
        return [...over, ...news.map(([uid, eviction]) => ({ uid, eviction }))];
      }),
      switchByKey({
        key: ({ uid }) => uid,
        project: ({ uid, eviction }) => eviction && timer(leftOf(eviction, asyncScheduler.now())).pipe(map(() => uid)),
      }),
    );
  });
}

function awaitedIn({ entries }: PodBook): ReadonlyMap<PodUid, Eviction> {
  const awaited = new Map<PodUid, Eviction>();
  for (const entry of entries.values()) {
    if (entry.phase === 'waiting' && entry.isOut === true && entry.eviction) awaited.set(entry.uid, entry.eviction);
  }
  return awaited;
}
