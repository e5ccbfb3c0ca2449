import { map, type Observable } from 'rxjs';
import type { Problem } from '../../model/desired.ts';
import { keyOf, type ObjectKey } from '../../model/objects/local-object.ts';
import type { Pod } from '../../model/pod.ts';
import { foldManifests, initialState } from '../../sources/file/fold-manifests.ts';
import type { FileReading } from '../../sources/file/look-at-file.ts';
import { readManifests } from './read-manifests.ts';

/** What the agent would make of one file. */
export interface CheckedFile {
  readonly path: string;
  /** Those that would run. */
  readonly pods: readonly Pod[];
  /** What would serve them, or stand for some; never its data, which may be secret. */
  readonly objects: readonly ObjectKey[];
  readonly problems: readonly Problem[];
}

/**
 * Reads manifests as the agent on this node would, with the same code: emits what it makes of each file, in the order
 * of the paths, and completes. Every folder is checked for itself; files that are named one by one are checked as if
 * they were in one folder. `-` is what comes on standard input. Errors with a {@link CliError} where there is nothing to check.
 */
export function findMistakes(
  paths: readonly string[],
  nodeName: string,
  stdin: () => NodeJS.ReadableStream,
): Observable<readonly CheckedFile[]> {
  return readManifests(paths, stdin).pipe(
    map((looks) => {
      const single = looks.filter(({ isFolder }) => !isFolder).flatMap(({ files }) => files);
      const folders = looks.filter(({ isFolder }) => isFolder);
      return [single, ...folders.map(({ files }) => files)].flatMap((files) => check(files, nodeName));
    }),
  );
}

function check(files: readonly FileReading[], nodeName: string): readonly CheckedFile[] {
  const { memory, desired } = foldManifests(
    initialState(),
    { kind: 'read', files, unsettled: false },
    { path: '', nodeName },
  );
  const accepted = new Set(desired.pods);
  const served = new Set(desired.objects);
  return files.map(({ path }) => ({
    path,
    pods: (memory.files[path] ?? []).filter((pod) => accepted.has(pod)),
    objects: (memory.objects?.[path] ?? []).filter((one) => served.has(one)).map(keyOf),
    problems: desired.problems.filter(({ origin }) => origin === path),
  }));
}
