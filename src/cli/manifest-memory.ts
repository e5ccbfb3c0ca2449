import { dirname } from 'node:path';
import { concat, defer, ignoreElements, map, type Observable } from 'rxjs';
import { isFileMemory, type FileMemory, type FileMemoryStore } from '../sources/file/file-memory.ts';
import type { Files } from '../streams/ports/files.ts';

/** Keeps what the manifests last said as a file of the root directory; readable by root only, since pods hold secrets. */
export function manifestMemory(path: string, files: Files): FileMemoryStore {
  return {
    load: () => files.readFile(path).pipe(map((text) => (text === undefined ? undefined : memoryIn(text)))),
    save: (memory): Observable<undefined> =>
      concat(
        files.makeDir(dirname(path), 0o750).pipe(ignoreElements()), // the sources may speak before anybody else needed it
        defer(() => files.writeFile(path, JSON.stringify(memory), { mode: 0o600 })),
      ),
  };
}

/** A file that was cut off or written by another version is as good as none: the manifests tell it all again. */
function memoryIn(text: string): FileMemory | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFileMemory(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
