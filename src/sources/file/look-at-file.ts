import { readFile, stat, type BigIntStats } from 'node:fs';
import { asyncScheduler, bindNodeCallback, catchError, concatMap, map, of, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';

/** What was read of one manifest file. An unchanged file keeps the very same reading from scan to scan. */
export interface FileReading {
  readonly path: string;
  /** Identity of this state of the file, or `undefined` while a change could hide within its time stamp. */
  readonly stamp?: string;
  readonly inode: bigint;
  /** When the file was first not there any more, in ms: it is not given up at once, as editors take files away for a moment. */
  readonly missingSince?: number;
  readonly content: { readonly text: string } | { readonly unreadable: string };
}

/** Bytes; the kubelet's own limit. */
const LARGEST_MANIFEST = 10 * 1024 * 1024;

/** Milliseconds after which a file written in place counts as written to its end, and one that is missing as removed. */
export const SETTLE_TIME = 20;

export interface FileLook {
  readonly reading: FileReading | undefined;
  readonly unsettled: boolean;
}

/** Looks at one file, reading it only when it changed; emits once, never errors. */
export function lookAtFile(path: string, known: FileReading | undefined): Observable<FileLook> {
  return statOf$(path).pipe(
    concatMap((stats) => {
      if (!stats.isFile()) return of(NOTHING);
      const stamp = stampOf(stats);
      if (known?.stamp === stamp && known.missingSince === undefined) return of({ reading: known, unsettled: false });

      const age = asyncScheduler.now() - Number(stats.ctimeMs);
      const isBeingWritten = known?.inode === stats.ino && !isBlank(known) && age >= 0 && age < SETTLE_TIME;
      if (isBeingWritten) return of({ reading: known, unsettled: true });

      return contentOf(path, stats).pipe(
        concatMap((content) => statOf$(path).pipe(map((after) => ({ content, isChanged: stampOf(after) !== stamp })))),
        map(({ content, isChanged }): FileLook => {
          if (isChanged) return { reading: known, unsettled: true };
          const reading = { path, inode: stats.ino, content, ...(age > COARSE_CLOCK && { stamp }) };
          return {
            reading: known && sameContent(known, reading) ? { ...reading, content: known.content } : reading,
            unsettled: false,
          };
        }),
      );
    }),
    catchError((error: unknown) =>
      of(isMissing(error) ? NOTHING : { reading: unreadable(path, error), unsettled: false }),
    ),
  );
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

const NOTHING: FileLook = { reading: undefined, unsettled: false };

/** Milliseconds in which a file system may stamp two changes alike; some count in whole seconds. */
const COARSE_CLOCK = 2_000;

function contentOf(path: string, { size }: BigIntStats): Observable<FileReading['content']> {
  if (size > LARGEST_MANIFEST) return of({ unreadable: `is larger than 10 MiB (${size} bytes)` });
  return readBytes$(path).pipe(map(decodeUtf8));
}

function decodeUtf8(bytes: Buffer): FileReading['content'] {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { unreadable: 'is no UTF-8 text' };
  }
}

/** A file that was just made and not yet written holds nothing that could be lost. */
function isBlank({ content }: FileReading): boolean {
  return 'text' in content && content.text === '';
}

function sameContent({ content: a }: FileReading, { content: b }: FileReading): boolean {
  return 'text' in a && 'text' in b && a.text === b.text;
}

function unreadable(path: string, error: unknown): FileReading {
  return { path, inode: 0n, content: { unreadable: `cannot be read: ${messageOf(error)}` } };
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

export const statOf$: (path: string) => Observable<BigIntStats> = bindNodeCallback(
  (path: string, done: (error: Error | null, stats: BigIntStats) => void) => {
    stat(path, { bigint: true }, done);
  },
);
const readBytes$ = bindNodeCallback((path: string, done: (error: Error | null, bytes: Buffer) => void) => {
  readFile(path, done);
});
