import { watch as watchDirectory } from 'node:fs';
import { basename, dirname } from 'node:path';
import { watch } from 'chokidar';
import { concat, EMPTY, map, Observable, of, repeat, retry, switchMap, throwError, timer } from 'rxjs';

/**
 * Emits whenever something may have changed at an absolute path, be it a directory or a file, there or not yet there; also when
 * the watch stands, as what came before that has been missed. Hints only, often several for one change. Errors when the
 * system refuses to watch; never completes. Unsubscribing ends the watch.
 */
export function watchManifests(path: string): Observable<undefined> {
  return rebirths(path).pipe(switchMap((isFirst) => concat(isFirst ? EMPTY : of(undefined), changesWithin(path))));
}

/** Changes in the directory or of the file; blind to the path itself being replaced, hence {@link rebirths}. */
function changesWithin(path: string): Observable<undefined> {
  return new Observable((subscriber) => {
    const watcher = watch(path, { ignoreInitial: true, depth: 0, atomic: false });
    const hint = (): void => {
      subscriber.next(undefined);
    };
    watcher.on('ready', hint);
    watcher.on('all', hint);
    // Also what chokidar looks into first or takes for nothing, as a link that is turned to another directory.
    watcher.on('raw', hint);
    watcher.on('error', (error) => {
      subscriber.error(error);
    });
    return () => void watcher.close();
  });
}

/**
 * Emits true at once, then false whenever the path appears, goes, or is replaced, as a link that is turned to another
 * directory. Waits for the parent directory where that is missing.
 */
function rebirths(path: string): Observable<boolean> {
  const parent = dirname(path);
  return new Observable<false>((subscriber) => {
    const watcher = watchDirectory(parent, (event, name) => {
      if (event !== 'rename') return;
      if (name === basename(path)) subscriber.next(false);
      // The parent itself has gone: this watch is dead.
      else if (name === basename(parent)) subscriber.complete();
    });
    watcher.on('error', (error) => {
      subscriber.error(error);
    });
    subscriber.next(false);
    return () => {
      watcher.close();
    };
  }).pipe(
    repeat(),
    retry({ delay: (error: Error) => (isMissing(error) ? timer(PARENT_CHECK) : throwError(() => error)) }),
    map((_, index) => index === 0),
  );
}

/** Milliseconds between two looks for a parent directory that is missing. */
const PARENT_CHECK = 1_000;

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
