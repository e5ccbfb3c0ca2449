import { dirname } from 'node:path';
import { concat, defer, ignoreElements, map, type Observable } from 'rxjs';
import type { StopMemory } from '../model/pod-command.ts';
import { isRecord } from '../model/schema/check-shape.ts';
import type { StopStore } from '../sources/hold-pods.ts';
import type { Files } from '../streams/ports/files.ts';

/** Keeps which pods are stopped by hand as a file of the root directory. */
export function stopMemory(path: string, files: Files): StopStore {
  return {
    load: () => files.readFile(path).pipe(map((text) => (text === undefined ? undefined : memoryIn(text)))),
    save: (memory): Observable<undefined> =>
      concat(
        files.makeDir(dirname(path), 0o750).pipe(ignoreElements()),
        defer(() => files.writeFile(path, JSON.stringify(memory), { mode: 0o600 })),
      ),
  };
}

/** A file that was cut off or written by another version is as good as none. */
function memoryIn(text: string): StopMemory | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStopMemory(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStopMemory(value: unknown): value is StopMemory {
  if (!isRecord(value) || value['version'] !== 1 || !Array.isArray(value['stopped'])) return false;
  return value['stopped'].every(
    (one: unknown) =>
      isRecord(one) && [one['uid'], one['name'], one['namespace']].every((text) => typeof text === 'string'),
  );
}
