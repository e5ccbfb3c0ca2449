import { distinctUntilChanged, map, type Observable } from 'rxjs';
import { OWNER } from '../../model/rxlet-annotations.ts';
import type { PodSight, PodSights } from '../../model/workloads/pod-sight.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';

/** How the pods of workloads are, now and whenever that changes; completes with the book. */
export function podSights(book$: Observable<Pick<PodBook, 'entries'>>): Observable<PodSights> {
  return book$.pipe(
    map(({ entries }): PodSights => {
      const seen = [...entries.values()].flatMap((entry) => {
        const sight = sightOf(entry);
        return sight ? [[entry.uid, sight] as const] : [];
      });
      return new Map(seen);
    }),
    distinctUntilChanged(isSame),
  );
}

function sightOf(entry: Entry): PodSight | undefined {
  const { pod, status, phase, observed } = entry;
  const owner = pod?.metadata.annotations[OWNER];
  if (owner === undefined) return undefined;
  return {
    owner,
    status: status ?? {},
    isUnderWay: phase === 'syncing' && observed !== undefined,
    isFinished: phase === 'finished',
  };
}

function isSame(before: PodSights, now: PodSights): boolean {
  if (before.size !== now.size) return false;
  return [...now].every(([uid, { status, isUnderWay, isFinished }]) => {
    const former = before.get(uid);
    return former?.status === status && former.isUnderWay === isUnderWay && former.isFinished === isFinished;
  });
}
