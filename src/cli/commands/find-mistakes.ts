import { text } from 'node:stream/consumers';
import { resolve } from 'node:path';
import { concatMap, defer, from, map, of, toArray, type Observable } from 'rxjs';
import type { Problem } from '../../model/desired.ts';
import { keyOf, type ObjectKey } from '../../model/objects/local-object.ts';
import type { Pod } from '../../model/pod.ts';
import { foldManifests, initialState } from '../../sources/file/fold-manifests.ts';
import type { FileReading } from '../../sources/file/look-at-file.ts';
import { scanManifests } from '../../sources/file/scan-manifests.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

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
  return from(withoutRepeats(paths)).pipe(
    concatMap((path) => (path === STDIN ? readStdin(stdin) : readPath(path))),
    toArray(),
    map((looks) => {
      const single = looks.filter(({ isFolder }) => !isFolder).flatMap(({ files }) => files);
      const folders = looks.filter(({ isFolder }) => isFolder);
      return [single, ...folders.map(({ files }) => files)].flatMap((files) => check(files, nodeName));
    }),
  );
}

export const STDIN = '-';

interface Look {
  readonly isFolder: boolean;
  readonly files: readonly FileReading[];
}

function withoutRepeats(paths: readonly string[]): readonly string[] {
  return [...new Map(paths.map((path) => [path === STDIN ? path : resolve(path), path])).values()];
}

function readStdin(stdin: () => NodeJS.ReadableStream): Observable<Look> {
  return defer(() => text(stdin())).pipe(
    map((content) => ({ isFolder: false, files: [{ path: 'stdin', inode: 0n, content: { text: content } }] })),
  );
}

function readPath(path: string): Observable<Look> {
  return scanManifests(path).pipe(
    concatMap((scan) => {
      if (scan.kind === 'failed') throw cannotCheck(`${path}: ${scan.message}`, '');
      if (scan.missing !== undefined) throw cannotCheck(`${path}: ${scan.missing}`, '');
      const { files } = scan;
      const isFolder = files.length !== 1 || files[0]?.path !== path;
      if (files.length === 0)
        throw cannotCheck(`${path}: no manifests in this folder`, 'Manifests are *.yaml, *.yml and *.json.');
      return of({ isFolder, files });
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

function cannotCheck(message: string, hint: string): CliError {
  return new CliError(EXIT_CODES.usage, message, hint);
}
