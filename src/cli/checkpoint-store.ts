import { catchError, concat, defer, forkJoin, ignoreElements, map, mergeMap, of, type Observable } from 'rxjs';
import type { PodUid } from '../model/pod.ts';
import type { Checkpoint, CheckpointStore } from '../streams/checkpoints/checkpoints.ts';
import type { Files } from '../streams/ports/files.ts';

/** Keeps each checkpoint as a JSON file of a folder, readable by root only. */
export function checkpointStore(folder: string, files: Files): CheckpointStore {
  const path = (uid: PodUid): string => `${folder}/${uid}.json`;
  function read(name: string): Observable<readonly Checkpoint[]> {
    return files.readFile(`${folder}/${name}`).pipe(
      map((text) => checkpointsIn(text ?? '')),
      catchError(() => of([])),
    );
  }
  function write(checkpoint: Checkpoint): Observable<undefined> {
    return defer(() => files.writeFile(path(checkpoint.uid), JSON.stringify(checkpoint), { mode: 0o600 }));
  }
  return {
    load: () =>
      files.list(folder).pipe(
        map((names) => names.filter((name) => name.endsWith('.json'))),
        mergeMap((names) => (names.length === 0 ? of([]) : forkJoin(names.map(read)))),
        map((found) => found.flat()),
      ),
    // The folder is there but for the first time, or somebody took it away.
    save: (checkpoint) =>
      write(checkpoint).pipe(
        catchError(() => concat(files.makeDir(folder, 0o700).pipe(ignoreElements()), write(checkpoint))),
      ),
    remove: (uid) => defer(() => files.removeFile(path(uid))),
  };
}

/** A file that was cut off or written by another version tells nothing; the runtime still does. */
function checkpointsIn(text: string): readonly Checkpoint[] {
  try {
    const value: unknown = JSON.parse(text);
    return isCheckpoint(value) ? [value] : [];
  } catch {
    return [];
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === 1 &&
    'uid' in value &&
    typeof value.uid === 'string'
  );
}
