import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  from,
  map,
  mergeMap,
  of,
  switchMap,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { podDir, podsDir, uidOfLogDir, type NodePaths } from '../../model/paths.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Files } from '../ports/files.ts';
import type { Meter } from '../ports/meter.ts';

export interface HousekeepingPorts {
  readonly files: Pick<Files, 'list' | 'removeTree' | 'readLink' | 'typeOf' | 'removeFile'>;
  readonly paths: NodePaths;
  /** Unmounts what was mounted for the volumes of a pod; what somebody else mounted there stays. */
  readonly unmountVolumes: (uid: PodUid) => Observable<never>;
  /** Whether the pod is in the book or in the runtime; asked anew before each removal. */
  readonly isKnown: (uid: PodUid) => boolean;
  /** Whether the runtime held the container when it was last listed; the link to its log goes when it goes. */
  readonly isHeld: (containerId: string) => boolean;
  /** Hears of each search for folders of unknown pods. */
  readonly meter: Meter;
  /** Emits when all sources were heard and the runtime was listed: from then on unknown means gone. */
  readonly complete$: Observable<unknown>;
}

/** What housekeeping did, or could not do. */
export interface HousekeepingNote {
  readonly ok: boolean;
  readonly path: string;
  readonly message: string;
}

/**
 * Removes what pods left on disk that nobody knows any more: their folders, their logs, and log links to nowhere.
 *
 * ```text
 * complete    ---c--------------------
 * rounds         0---------1---------2     a period apart, the first one at once
 * result      ---ww--------w----------     w: one thing removed, or found to be in the way
 * ```
 *
 * Never crosses a mount point: a folder with one below that is none of ours is a note, and stays. What is in the way is
 * told once, and again when it is something else. Never errors and never completes.
 */
export function housekeeping(ports: HousekeepingPorts, period: number): Observable<HousekeepingNote> {
  return ports.complete$.pipe(
    take(1),
    switchMap(() => timer(0, period)),
    exhaustMap(() => concat(measured(orphanDirs(ports), ports.meter), orphanLogs(ports), deadLinks(ports))),
    (note$) => onlyNews(note$),
  );
}

/** What is in the way of the same thing at every round is no news. */
function onlyNews(note$: Observable<HousekeepingNote>): Observable<HousekeepingNote> {
  return defer(() => {
    const inTheWay = new Map<string, string>();
    return note$.pipe(
      filter(({ ok, path, message }) => {
        const isNews = ok || inTheWay.get(path) !== message;
        if (ok) inTheWay.delete(path);
        else inTheWay.set(path, message);
        return isNews;
      }),
    );
  });
}

/** One note is one folder. */
function measured(note$: Observable<HousekeepingNote>, meter: Meter): Observable<HousekeepingNote> {
  return defer(() => {
    const begun = asyncScheduler.now();
    let [found, failed] = [0, 0];
    return note$.pipe(
      tap({
        next: ({ ok }) => {
          found += 1;
          if (!ok) failed += 1;
        },
        complete: () => {
          meter({ kind: 'sweep', found, failed, took: asyncScheduler.now() - begun });
        },
      }),
    );
  });
}

function orphanDirs({ files, paths, unmountVolumes, isKnown }: HousekeepingPorts): Observable<HousekeepingNote> {
  return entries(podsDir(paths), files).pipe(
    map((name) => name as PodUid),
    eachUnknown(isKnown, (uid) => {
      const path = podDir(paths, uid);
      return concat(unmountVolumes(uid), removal(path, files)).pipe(
        catchError((error: unknown) => of({ ok: false, path, message: messageOf(error) })),
      );
    }),
  );
}

function orphanLogs({ files, paths, isKnown }: HousekeepingPorts): Observable<HousekeepingNote> {
  return entries(paths.podLogsDir, files).pipe(
    filter((name) => name.includes('_')),
    eachUnknown(
      (name) => isKnown(uidOfLogDir(name) as PodUid),
      (name) => removal(`${paths.podLogsDir}/${name}`, files),
    ),
  );
}

function deadLinks({ files, paths, isHeld }: HousekeepingPorts): Observable<HousekeepingNote> {
  return entries(paths.containerLinksDir, files).pipe(
    filter((name) => !isHeld(containerOfLink(name))),
    map((name) => `${paths.containerLinksDir}/${name}`),
    concatMap((link) =>
      files.readLink(link).pipe(
        filter((target) => target !== undefined),
        concatMap((target) => files.typeOf(target)),
        filter((type) => type === 'missing'),
        mergeMap(() => files.removeFile(link)),
        map(() => ({ ok: true, path: link, message: 'removed a log link to nowhere' })),
        catchError((error: unknown) => of({ ok: false, path: link, message: messageOf(error) })),
      ),
    ),
  );
}

/** `web_default_app-0a1b2c.log` is of the container `0a1b2c`. */
function containerOfLink(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1).replace(/\.log$/, '');
}

function entries(dir: string, files: HousekeepingPorts['files']): Observable<string> {
  return defer(() => files.list(dir)).pipe(
    mergeMap((names) => from(names)),
    catchError(() => EMPTY), // the next tick tries again
  );
}

/** Asked when its turn has come: the pod may have appeared while others were being removed. Most are known, and cost a call. */
function eachUnknown<T, R>(
  isKnown: (item: T) => boolean,
  work: (item: T) => Observable<R>,
): (item$: Observable<T>) => Observable<R> {
  return concatMap((item) => (isKnown(item) ? EMPTY : work(item)));
}

function removal(path: string, files: HousekeepingPorts['files']): Observable<HousekeepingNote> {
  return defer(() => files.removeTree(path)).pipe(
    map(() => ({ ok: true, path, message: 'removed what a pod had left' })),
    catchError((error: unknown) => of({ ok: false, path, message: messageOf(error) })),
  );
}
