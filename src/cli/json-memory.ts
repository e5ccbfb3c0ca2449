import { dirname } from 'node:path';
import { catchError, concat, defer, ignoreElements, map, type Observable } from 'rxjs';
import type { Files } from '../streams/ports/files.ts';

/** A value that outlives the agent. */
export interface JsonMemory<T> {
  /** Emits what was saved last, or `undefined` where there is nothing that can be used. */
  readonly load: () => Observable<T | undefined>;
  /** Emits once it is on disk; errors where it cannot be written. */
  readonly save: (value: T) => Observable<undefined>;
}

/** Keeps a value as a file readable by root only. A file cut off, or written by another version, is as good as none. */
export function jsonMemory<T>(path: string, files: Files, isOurs: (value: unknown) => value is T): JsonMemory<T> {
  return {
    load: () => files.readFile(path).pipe(map((text) => (text === undefined ? undefined : parsed(text, isOurs)))),
    // The folder is there but for the first time, or somebody took it away.
    save: (value) => {
      const write$ = defer(() => files.writeFile(path, JSON.stringify(value), { mode: 0o600 }));
      const makeDir$ = defer(() => files.makeDir(dirname(path), 0o750)).pipe(ignoreElements());
      return write$.pipe(catchError(() => concat(makeDir$, write$)));
    },
  };
}

function parsed<T>(text: string, isOurs: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isOurs(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
