import { dirname } from 'node:path';
import { concat, defer, ignoreElements, map, type Observable } from 'rxjs';
import { isRecord } from '../model/schema/check-shape.ts';
import type { WorkloadMemory } from '../model/workloads/expand-workloads.ts';
import type { WorkloadStore } from '../sources/expand-desired.ts';
import type { Files } from '../streams/ports/files.ts';

/** Keeps what has come of workloads as a file of the root directory, readable by root only. */
export function workloadMemory(path: string, files: Files): WorkloadStore {
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
function memoryIn(text: string): WorkloadMemory | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isOurs = isRecord(value) && value['version'] === 1 && isRecord(value['slots']) && isRecord(value['jobs']);
    return isOurs ? (value as unknown as WorkloadMemory) : undefined;
  } catch {
    return undefined;
  }
}
