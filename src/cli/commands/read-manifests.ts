import { text } from 'node:stream/consumers';
import { resolve } from 'node:path';
import { concatMap, defer, from, map, of, toArray, type Observable } from 'rxjs';
import type { FileReading } from '../../sources/file/look-at-file.ts';
import { scanManifests } from '../../sources/file/scan-manifests.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

/** What lies at one path of the command line. */
export interface ManifestLook {
  readonly isFolder: boolean;
  readonly files: readonly FileReading[];
}

const STDIN = '-';

/**
 * Reads files and folders of manifests once: emits what lies at each path, in the order of the paths, and completes. `-`
 * is what comes on standard input. Errors with a {@link CliError} where there is nothing to read.
 */
export function readManifests(
  paths: readonly string[],
  stdin: () => NodeJS.ReadableStream,
): Observable<readonly ManifestLook[]> {
  return from(withoutRepeats(paths)).pipe(
    concatMap((path) => (path === STDIN ? readStdin(stdin) : readPath(path))),
    toArray(),
  );
}

function withoutRepeats(paths: readonly string[]): readonly string[] {
  return [...new Map(paths.map((path) => [path === STDIN ? path : resolve(path), path])).values()];
}

function readStdin(stdin: () => NodeJS.ReadableStream): Observable<ManifestLook> {
  return defer(() => text(stdin())).pipe(
    map((content) => ({ isFolder: false, files: [{ path: 'stdin', inode: 0n, content: { text: content } }] })),
  );
}

function readPath(path: string): Observable<ManifestLook> {
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

function cannotCheck(message: string, hint: string): CliError {
  return new CliError(EXIT_CODES.usage, message, hint);
}
