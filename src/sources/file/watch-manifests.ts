import { readdir, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  bindNodeCallback,
  catchError,
  concat,
  concatMap,
  EMPTY,
  filter,
  map,
  merge,
  NEVER,
  Observable,
  of,
  repeat,
  retry,
  share,
  startWith,
  switchMap,
  throwError,
  timer,
  type ObservableInput,
} from 'rxjs';
import { isManifestName } from './manifest-name.ts';

/**
 * Emits whenever something may have changed at an absolute path, be it a directory or a file, there or not yet there.
 * Hints only, often several for one change. Errors when the system refuses to watch; never completes. The watch stands
 * when subscribing returns; unsubscribing ends it.
 */
export function watchManifests(path: string): Observable<undefined> {
  return rebirths(path).pipe(switchMap((isFirst) => concat(isFirst ? EMPTY : of(undefined), changesWithin(path))));
}

interface Change {
  readonly event: 'rename' | 'change';
  /** Of the entry, or of the path itself; `null` where the system does not tell. */
  readonly name: string | null;
}

/** Changes in the directory or of the file; blind to the path itself being replaced, hence {@link rebirths}. */
function changesWithin(path: string): Observable<undefined> {
  const change$ = changes(path).pipe(
    catchError((error: unknown) => (isMissing(error) ? NEVER : throwError(() => error))),
    share(),
  );
  return merge(
    change$.pipe(
      filter(({ name }) => !isPassing(name)),
      map(() => undefined),
    ),
    change$.pipe(
      filter(({ event, name }) => event === 'rename' && !isPassing(name)),
      startWith(undefined),
      switchMap((_, index) => timer(index === 0 ? 0 : LINK_PAUSE).pipe(concatMap(() => changesBehindLinks(path)))),
    ),
  );
}

/** Milliseconds without an entry that comes or goes, after which the links among them are looked for. */
const LINK_PAUSE = 50;

/** What programs write before they rename it. Names with two dots are those of mounted ConfigMaps. */
function isPassing(name: string | null): boolean {
  return name !== null && /^\.(?!\.)/.test(name);
}

/** A link stays as it is while the file that it leads to changes. */
function changesBehindLinks(path: string): Observable<undefined> {
  return entriesOf$(path).pipe(
    catchError(() => of([])),
    concatMap((entries) => {
      const links = entries.filter((entry) => entry.isSymbolicLink() && isManifestName(entry.name));
      if (links.length === 0) return EMPTY;
      const behind = links.map(({ name }) => changes(join(path, name)).pipe(catchError(goOn)));
      // What changed before these watches stood has been missed.
      return concat(of(undefined), merge(...behind).pipe(map(() => undefined)));
    }),
  );
}

/** A link to nothing is looked at again with the others. */
function goOn(): ObservableInput<never> {
  return EMPTY;
}

/**
 * Emits true at once, then false whenever the path appears, goes, or is replaced, as a link that is turned to another
 * directory. Waits for the parent directory where that is missing.
 */
function rebirths(path: string): Observable<boolean> {
  const parent = dirname(path);
  return new Observable<false>((subscriber) => {
    const watcher = watch(parent, (event, name) => {
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

/** What the system tells of a path. Errors where it cannot be watched; never completes. */
function changes(path: string): Observable<Change> {
  return new Observable((subscriber) => {
    const watcher = watch(path, (event, name) => {
      subscriber.next({ event, name });
    });
    watcher.on('error', (error) => {
      subscriber.error(error);
    });
    return () => {
      watcher.close();
    };
  });
}

/** Milliseconds between two looks for a parent directory that is missing. */
const PARENT_CHECK = 1_000;

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

const entriesOf$ = bindNodeCallback((path: string, done: (error: Error | null, entries: Dirents) => void) => {
  readdir(path, { withFileTypes: true }, done);
});
type Dirents = readonly { readonly name: string; isSymbolicLink(): boolean }[];
