import { createReadStream, createWriteStream, watch } from 'node:fs';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { defer, filter, map, merge, Observable, take } from 'rxjs';
import type { LogFile } from '../../model/logs/plan-rotation.ts';
import type { LogFiles } from '../../streams/ports/log-files.ts';
import { hasCode } from '../files/system-error.ts';

/** The files of container logs on this machine. What has begun goes on when nobody waits for it any more. */
export function nodeLogFiles(): LogFiles {
  return {
    size: (path) => defer(() => sizeOf(path)),
    sizes: (folder) => defer(() => sizesIn(folder)),
    changedFrom: (path, bytes) => changedFrom(path, bytes),
    rename: (from, to) => done(() => rename(from, to)),
    remove: (path) => done(() => remove(path)),
    compress: (path) => done(() => compress(path)),
    keepEnd: (path, bytes) => done(() => keepEnd(path, bytes)),
  };
}

function done(act: () => Promise<unknown>): Observable<undefined> {
  return defer(act).pipe(map(() => undefined));
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Watched before it is looked at, so nothing that is written in between is missed. */
function changedFrom(path: string, bytes: number): Observable<undefined> {
  const differs$ = defer(() => sizeOf(path)).pipe(filter((size) => size !== bytes));
  return merge(touched(path), differs$).pipe(
    take(1),
    map(() => undefined),
  );
}

/** Emits whenever something is done to a file. */
function touched(path: string): Observable<unknown> {
  return new Observable((subscriber) => {
    const watcher = watch(path, { persistent: false }, (event) => {
      subscriber.next(event);
    });
    watcher.on('error', (error) => {
      subscriber.error(error);
    });
    return () => {
      watcher.close();
    };
  });
}

async function sizesIn(folder: string): Promise<readonly LogFile[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    const sizes = await Promise.all(files.map((file) => sizeOf(join(folder, file))));
    return files.flatMap((file, index) => {
      const bytes = sizes[index];
      return bytes === undefined ? [] : [{ file, bytes }];
    });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Whoever looks meanwhile finds the text in one of the two files, and never half of it in `.gz`. */
async function compress(path: string): Promise<void> {
  const made = `${path}.tmp`;
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(made, { mode: MODE }));
    await rename(made, `${path}.gz`);
    await remove(path);
  } catch (error) {
    await remove(made);
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** As the runtime makes logs. */
const MODE = 0o640;
const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

async function keepEnd(path: string, bytes: number): Promise<void> {
  const size = await sizeOf(path);
  if (size === undefined || size <= bytes) return;
  const start = await lineAfter(path, size - bytes);
  const made = `${path}.tmp`;
  await pipeline(createReadStream(path, { start }), createWriteStream(made, { mode: MODE }));
  await rename(made, path);
}

/** Where the first line begins that begins at an offset or later; the offset itself where there is none nearby. */
async function lineAfter(path: string, offset: number): Promise<number> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BLOCK), 0, BLOCK, offset - 1);
    const newline = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
    return newline === -1 ? offset : offset + newline;
  } finally {
    await file.close();
  }
}
