import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  delay,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  merge,
  mergeMap,
  NEVER,
  of,
  race,
  repeat,
  switchMap,
  take,
  takeUntil,
  tap,
  throttleTime,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { partsOf, rotationName } from '../../model/logs/log-names.ts';
import { planRotation, type LogFile, type RotationLimits, type RotationStep } from '../../model/logs/plan-rotation.ts';
import type { NodePaths } from '../../model/paths.ts';
import { tellByKey } from '../../operators/tell-by-key.ts';
import type { PodBook } from '../book/pod-book.ts';
import type { Cri } from '../ports/cri.ts';
import type { LogFiles } from '../ports/log-files.ts';
import { logsIn, type ContainerLog } from './logs-in.ts';

export interface RotationPorts {
  readonly files: LogFiles;
  readonly cri: Pick<Cri, 'reopenContainerLog'>;
}

export interface RotationConfig extends RotationLimits {
  readonly paths: Pick<NodePaths, 'podLogsDir'>;
  /** Milliseconds between two times at which the folder of a container is looked through. */
  readonly monitorInterval: number;
  /** Logs that are compressed at the same time. */
  readonly maxWorkers: number;
}

/** What rotation did, or could not do. */
export interface RotationNote {
  readonly ok: boolean;
  readonly path: string;
  readonly message: string;
}

/** Milliseconds between two looks at the size of a log that grows. */
const LOOK = 1_000;
/** At least, of one that grows fast. */
const SOONEST = 100;
/** At most, of one that is missing or cannot be watched: each look that finds nothing new doubles the time to the next. */
const LATEST = 5_000;
/** Of one that is watched: it need not be looked at before somebody writes to it. */
const WATCHED = 60_000;

/**
 * Keeps the logs of containers within their limits.
 *
 * ```text
 * size of a log   0--3----6-7---1---------2--      rotated at 7 of 7
 * looks           ^--^----^-^---^---^      ^-      the sooner, the sooner it will be full
 * watched                           -------!       from a look that finds nothing new to the next byte
 * result          ----------r----------------      r: rotated
 * ```
 *
 * A log that will be full before the usual look is looked at in half of the time that is left, so a fast writer passes
 * its limit by what it writes in 100 ms. One that nobody writes to is watched, and costs a look a minute. Folders are
 * looked through every `monitorInterval` while their logs grow or there is something to do in them, when a log is full
 * and when a container has started anew: see {@link planRotation}. Renaming waits for nothing; compressing waits for its turn. A log of a running
 * container that is missing is asked for again. Never errors, never completes before `book$`.
 */
export function rotateLogs(
  book$: Observable<PodBook>,
  { files, cri }: RotationPorts,
  config: RotationConfig,
): Observable<RotationNote> {
  return defer(() => {
    let logs: ReadonlyMap<string, ContainerLog> = new Map();
    const gone = tellByKey<string, undefined>();
    const begun = tellByKey<string, undefined>();
    const busy = new Set<string>();

    /** One container over all of its instances, look by look. */
    function watch(folder: string): Observable<Item> {
      let next = 0;
      let before: { readonly file: string; readonly bytes: number; readonly at: number } | undefined;
      let sweepAt = 0;
      let patience = LOOK;
      let isQuiet = false;
      let isTidy = false;

      function look(): Observable<Item> {
        const log = logs.get(folder);
        if (!log) return EMPTY;
        const usual = Math.min(patience, config.monitorInterval);
        return files.size(`${folder}/${log.file}`).pipe(
          mergeMap((size) => {
            const now = asyncScheduler.now();
            const bytes = size ?? 0;
            const isNew = before?.file !== log.file;
            const grown = before && !isNew ? bytes - before.bytes : bytes;
            const rate = grown / Math.max(1, now - (before?.at ?? now - usual));
            const isFull = log.running && bytes >= config.maxBytes;
            before = { file: log.file, bytes: isFull ? 0 : bytes, at: now };
            const left = isFull ? config.maxBytes : config.maxBytes - bytes;
            isQuiet = grown === 0 && size !== undefined;
            patience = grown === 0 ? Math.min(LATEST, patience * 2) : LOOK;
            next = log.running && rate > 0 ? Math.min(LOOK, usual, Math.max(SOONEST, left / rate / 2)) : usual;
            if (!isFull && !isNew && now < sweepAt) return EMPTY;
            sweepAt = now + config.monitorInterval;
            isTidy = false;
            const isLost = log.running && size === undefined;
            return concat(
              isLost ? reopen(folder, log) : EMPTY,
              tidy(folder, log, now, (steps) => {
                isTidy = !isLost && steps === 0;
              }),
            );
          }),
          catchError((error: unknown) => {
            isQuiet = false;
            next = hasEnded(error) ? LOOK : config.monitorInterval;
            if (hasEnded(error)) sweepAt = 0;
            return hasEnded(error) ? EMPTY : of(failed(`${folder}/${log.file}`, error));
          }),
        );
      }
      const anew$ = begun.of(folder);
      /** The first byte tells nothing of how fast the log grows: that is measured from there on. */
      function written(): Observable<unknown> {
        if (!before) return NEVER;
        return files.changedFrom(`${folder}/${before.file}`, before.bytes).pipe(
          tap(() => {
            if (before) before = { ...before, at: asyncScheduler.now() };
          }),
          delay(SOONEST),
          catchError(() => timer(next)),
        );
      }
      function wait(): Observable<unknown> {
        return isQuiet && isTidy ? race(timer(WATCHED), written(), anew$) : race(timer(next), anew$);
      }
      const look$ = defer(look).pipe(repeat({ delay: wait }));
      const first = logs.get(folder);
      if (first?.attempt !== 0) return look$;
      // There is nothing to see before it has written something.
      before = { file: first.file, bytes: 0, at: asyncScheduler.now() };
      [isQuiet, isTidy] = [true, true];
      return wait().pipe(
        take(1),
        switchMap(() => look$),
      );
    }

    function tidy(folder: string, log: ContainerLog, now: number, onPlan: (steps: number) => void): Observable<Item> {
      return files.sizes(folder).pipe(
        concatMap((found) => {
          const steps = planFor(folder, log, found, now);
          onPlan(steps.length);
          return from(steps);
        }),
        concatMap((step) => perform(folder, log, step)),
      );
    }

    function planFor(
      folder: string,
      log: ContainerLog,
      found: readonly LogFile[],
      now: number,
    ): readonly RotationStep[] {
      const names = found.map(({ file }) => file);
      const rotatedName = rotationName(log.file, partsOf(log.file, names), now);
      const inFolder = [...busy].filter((path) => path.startsWith(`${folder}/`));
      const facts = { files: found, current: log.file, running: log.running, rotatedName };
      return planRotation({ ...facts, busy: new Set(inFolder.map((path) => path.slice(folder.length + 1))) }, config);
    }

    function perform(folder: string, log: ContainerLog, step: RotationStep): Observable<Item> {
      const path = `${folder}/${step.file}`;
      switch (step.kind) {
        case 'rotate':
          return rotate(path, `${folder}/${step.to}`, log);
        case 'remove':
          return done(files.remove(path));
        case 'cut':
          return concat(
            done(files.keepEnd(path, step.keep)),
            of(note(true, path, 'cut down to its end: it was written faster than it could be rotated')),
          );
        case 'compress':
          busy.add(path);
          return of<Item>({ kind: 'compress', path });
      }
    }

    /** Between the two the runtime writes to the renamed file; where it does not let go of it, it gets its name back. */
    function rotate(path: string, to: string, { containerId }: ContainerLog): Observable<Item> {
      return concat(
        done(files.rename(path, to)),
        done(cri.reopenContainerLog({ containerId })).pipe(
          catchError((error: unknown) =>
            concat(
              nameBack(path, to),
              throwError(() => error),
            ),
          ),
        ),
        of(note(true, path, 'rotated')),
      );
    }

    function nameBack(path: string, to: string): Observable<never> {
      return files.size(path).pipe(concatMap((size) => (size === undefined ? done(files.rename(to, path)) : EMPTY)));
    }

    function reopen(folder: string, { file, containerId }: ContainerLog): Observable<Item> {
      return done(cri.reopenContainerLog({ containerId })).pipe(
        catchError((error: unknown) => (hasEnded(error) ? EMPTY : of(failed(`${folder}/${file}`, error)))),
      );
    }

    function compress(path: string): Observable<RotationNote> {
      return done(files.compress(path)).pipe(
        catchError((error: unknown) => of(note(false, path, `not compressed: ${messageOf(error)}`).note)),
        finalize(() => busy.delete(path)),
      );
    }

    const item$ = book$.pipe(
      throttleTime(LOOK, undefined, { leading: true, trailing: true }), // a page is turned at every step of every pod
      mergeMap((book) => {
        const before = logs;
        logs = logsIn(book, config.paths);
        for (const [folder, { file }] of before) {
          const now = logs.get(folder);
          if (!now) gone.tell(folder, undefined);
          else if (now.file !== file) begun.tell(folder, undefined);
        }
        return [...logs.keys()].filter((folder) => !before.has(folder));
      }),
      mergeMap((folder) => watch(folder).pipe(takeUntil(gone.of(folder)))),
    );

    return item$.pipe(
      connect((shared$) =>
        merge(
          shared$.pipe(mergeMap((item) => (item.kind === 'note' ? [item.note] : []))),
          shared$.pipe(
            mergeMap((item) => (item.kind === 'compress' ? [item.path] : [])),
            mergeMap(compress, Math.max(1, config.maxWorkers)),
          ),
        ),
      ),
    );
  });
}

type Item =
  { readonly kind: 'note'; readonly note: RotationNote } | { readonly kind: 'compress'; readonly path: string };

function note(ok: boolean, path: string, message: string): Extract<Item, { readonly kind: 'note' }> {
  return { kind: 'note', note: { ok, path, message } };
}

function failed(path: string, error: unknown): Item {
  return note(false, path, `not rotated: ${messageOf(error)}`);
}

/** The container has ended before anybody here knew. Then its log grows no more, and nothing is wrong. */
function hasEnded(error: unknown): boolean {
  return /\bnot running\b/.test(messageOf(error));
}

function done(effect$: Observable<unknown>): Observable<never> {
  return effect$.pipe(ignoreElements());
}
