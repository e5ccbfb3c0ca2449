import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { partsOf, type LogPart } from '../../model/logs/log-names.ts';

/** A part of a log, held open: it stays readable when it is renamed, compressed or removed. */
export interface OpenPart extends LogPart {
  readonly handle: FileHandle;
  readonly inode: number;
}

/** Looks at a log that changes all the time; after that many what there is has to do. */
const TRIES = 10;

/** Opens those parts of a log that are wanted, oldest first, as they stood at one moment: none is missed, none is doubled. */
export async function openParts(path: string, wanted: (part: LogPart) => boolean): Promise<readonly OpenPart[]> {
  for (let tries = 1; ; tries++) {
    const parts = await listParts(path);
    const opened = await openAll(dirname(path), parts.filter(wanted));
    const now = await listParts(path);
    if (opened && (tries === TRIES || stampsOf(now) === stampsOf(parts))) return opened;
    if (opened) await closeAll(opened);
    else if (tries === TRIES) throw new Error(`the log ${path} is rotated faster than it can be opened`);
  }
}

export async function closeAll(parts: readonly OpenPart[]): Promise<void> {
  await Promise.all(parts.map(({ handle }) => handle.close().catch(() => undefined)));
}

async function listParts(path: string): Promise<readonly LogPart[]> {
  try {
    return partsOf(basename(path), await readdir(dirname(path)));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** All of them, or nothing where one has gone meanwhile. */
async function openAll(folder: string, parts: readonly LogPart[]): Promise<readonly OpenPart[] | undefined> {
  const opened: OpenPart[] = [];
  try {
    for (const part of parts) {
      const handle = await open(join(folder, part.file), constants.O_RDONLY | constants.O_NONBLOCK);
      opened.push({ ...part, handle, inode: 0 });
      const stats = await handle.stat();
      if (!stats.isFile()) throw new Error(`${join(folder, part.file)} is not a file`);
      opened[opened.length - 1] = { ...part, handle, inode: stats.ino };
    }
    return opened;
  } catch (error) {
    await closeAll(opened);
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function stampsOf(parts: readonly LogPart[]): string {
  return parts.map(({ rotated = 'now' }) => rotated).join();
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
