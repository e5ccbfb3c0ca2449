import { catchError, concatMap, EMPTY, ignoreElements, throwError, type Observable } from 'rxjs';
import type { Volume } from '../../model/volumes/volume-dir.ts';
import type { Files, PathType } from '../../streams/ports/files.ts';

const MUST_BE: Readonly<Record<string, { readonly type: PathType; readonly noun: string }>> = {
  Directory: { type: 'directory', noun: 'directory' },
  File: { type: 'file', noun: 'file' },
  Socket: { type: 'socket', noun: 'socket file' },
  CharDevice: { type: 'charDevice', noun: 'character device' },
  BlockDevice: { type: 'blockDevice', noun: 'block device' },
  DirectoryOrCreate: { type: 'directory', noun: 'directory' },
  FileOrCreate: { type: 'file', noun: 'file' },
};

/** Facts sheet 15.3; an empty type checks nothing, and the runtime makes what is missing. */
export function checkHostPath({ hostPath }: Volume, files: Files): Observable<never> {
  const { path = '', type = '' } = hostPath ?? {};
  const wanted = MUST_BE[type];
  if (!wanted) return EMPTY;
  return files.typeOf(path).pipe(
    concatMap((found): Observable<unknown> => {
      if (found === wanted.type) return EMPTY;
      if (found === 'missing' && type === 'DirectoryOrCreate') return files.makeDir(path, 0o755);
      if (found === 'missing' && type === 'FileOrCreate') return makeFile(path, files);
      return throwError(() => new Error(`hostPath type check failed: ${path} is not a ${wanted.noun}`));
    }),
    ignoreElements(),
  );
}

/** The folder it belongs in is not made: one that is missing is rather a mistake in the path. */
function makeFile(path: string, files: Files): Observable<unknown> {
  return files.writeFile(path, '', { mode: 0o644 }).pipe(
    catchError((error: unknown) => {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      return throwError(() => (isMissing ? new Error(`open ${path}: no such file or directory`) : error));
    }),
  );
}
