import { readdir } from 'node:fs';
import { join } from 'node:path';
import {
  asyncScheduler,
  bindNodeCallback,
  catchError,
  concatMap,
  defer,
  map,
  mergeMap,
  of,
  toArray,
  from,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { isManifestName } from './manifest-name.ts';
import { isMissing, lookAtFile, SETTLE_TIME, statOf$, type FileReading } from './look-at-file.ts';

/** One look at the manifest path. `failed`: nothing is known, so everything stays as it was. */
export type ManifestScan =
  | {
      readonly kind: 'read';
      /** Sorted by path. */
      readonly files: readonly FileReading[];
      /** Why there is nothing to read, when the path is missing. */
      readonly missing?: string;
      /** A file may be being written or replaced this moment: its former reading stands in, and another look is due soon. */
      readonly unsettled: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Looks at a directory of manifests, or at a single file: emits one scan and completes; never errors.
 *
 * In a directory only `*.yaml`, `*.yml` and `*.json` count, no hidden files and no subdirectories; links are followed.
 * Only files that changed since the former scan are read.
 */
export function scanManifests(path: string, former?: ManifestScan): Observable<ManifestScan> {
  return defer(() => {
    const known = new Map(former?.kind === 'read' ? former.files.map((file) => [file.path, file]) : []);
    return statOf$(path).pipe(
      concatMap((stats) => {
        if (stats.isFile()) return of([path]);
        if (stats.isDirectory())
          return entriesOf$(path).pipe(
            map((names) =>
              names
                .filter(isManifestName)
                .sort()
                .map((name) => join(path, name)),
            ),
          );
        throw new Error('is neither a file nor a directory');
      }),
      concatMap((paths) => from(paths)),
      mergeMap((file) => lookAtFile(file, known.get(file)), 16),
      toArray(),
      map((looks): ManifestScan => {
        const found = looks.flatMap(({ reading }) => reading ?? []);
        const held = holdMissing(known, found);
        return {
          kind: 'read',
          files: [...found, ...held].sort((a, b) => (a.path < b.path ? -1 : 1)),
          unsettled: held.length > 0 || looks.some(({ unsettled }) => unsettled),
        };
      }),
      catchError((error: unknown) => of(isMissing(error) ? missing(known) : failed(error))),
    );
  });
}

function missing(known: ReadonlyMap<string, FileReading>): ManifestScan {
  const held = holdMissing(known, []);
  return held.length > 0
    ? { kind: 'read', files: held, unsettled: true }
    : { kind: 'read', files: [], missing: 'there is no such file or directory', unsettled: false };
}

function failed(error: unknown): ManifestScan {
  return { kind: 'failed', message: messageOf(error) };
}

/** Files that went away a moment ago, unless they are found again under another name. */
function holdMissing(known: ReadonlyMap<string, FileReading>, found: readonly FileReading[]): readonly FileReading[] {
  const now = asyncScheduler.now();
  return [...known.values()].flatMap((file) => {
    const { path, inode, missingSince = now } = file;
    const isBack = found.some((other) => other.path === path || other.inode === inode);
    const isGone = now - missingSince >= SETTLE_TIME || now < missingSince;
    return isBack || isGone ? [] : { ...file, missingSince };
  });
}

const entriesOf$ = bindNodeCallback((path: string, done: (error: Error | null, names: string[]) => void) => {
  readdir(path, done);
});
