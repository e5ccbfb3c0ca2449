import { distinctUntilChanged, map, scan, type Observable } from 'rxjs';
import { changedKeys } from '../../model/layered-map.ts';
import { OWNER } from '../../model/rxlet-annotations.ts';
import type { PodSight, PodSights } from '../../model/workloads/pod-sight.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';

/** How the pods of workloads are, now and whenever that changes; completes with the book. */
export function podSights(book$: Observable<Pick<PodBook, 'entries'>>): Observable<PodSights> {
  return book$.pipe(
    scan(
      (seen: Seen, { entries }): Seen => {
        const changed = changedKeys(seen.entries, entries).filter(
          (uid) => !isSame(seen.sights.get(uid), sightOf(entries.get(uid))),
        );
        if (changed.length === 0) return { ...seen, entries };
        const sights = new Map(seen.sights);
        for (const uid of changed) {
          const sight = sightOf(entries.get(uid));
          if (sight) sights.set(uid, sight);
          else sights.delete(uid);
        }
        return { entries, sights };
      },
      { entries: new Map(), sights: new Map() },
    ),
    map(({ sights }) => sights),
    distinctUntilChanged(),
  );
}

interface Seen {
  readonly entries: PodBook['entries'];
  readonly sights: PodSights;
}

function sightOf(entry: Entry | undefined): PodSight | undefined {
  if (!entry) return undefined;
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

function isSame(before: PodSight | undefined, now: PodSight | undefined): boolean {
  return (
    before?.status === now?.status && before?.isUnderWay === now?.isUnderWay && before?.isFinished === now?.isFinished
  );
}
