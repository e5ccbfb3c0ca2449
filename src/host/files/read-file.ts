import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { hasCode, systemError } from './system-error.ts';

/** Without O_NONBLOCK a pipe in the place of a file would hold a thread of Node for ever. */
const OPENING = constants.O_RDONLY | constants.O_NONBLOCK;

/** The text of a file, or of its last `tailBytes` bytes; `undefined` where there is none. */
export async function readFile(path: string, tailBytes?: number): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, OPENING);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    const { size } = checked(await file.stat(), path);
    // Files of /proc and /sys say that they are empty; only reading tells.
    return tailBytes !== undefined && size > tailBytes
      ? await readTail(file, size, tailBytes)
      : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The same, at once: for small files that the kernel has in memory. */
export function readAtOnce(path: string, tailBytes?: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, OPENING);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    const { size } = checked(fstatSync(file), path);
    if (tailBytes === undefined || size <= tailBytes) return readFileSync(file, 'utf8');
    const bytes = Buffer.alloc(tailBytes);
    return endOf(bytes, readSync(file, bytes, 0, tailBytes, size - tailBytes));
  } finally {
    closeSync(file);
  }
}

function checked(stats: Stats, path: string): Stats {
  if (stats.isDirectory()) throw systemError('EISDIR', 'is a directory', path);
  if (!stats.isFile()) throw systemError('EINVAL', 'is not a file', path);
  return stats;
}

async function readTail(file: FileHandle, size: number, tailBytes: number): Promise<string> {
  const bytes = Buffer.alloc(tailBytes);
  const { bytesRead } = await file.read(bytes, 0, tailBytes, size - tailBytes);
  return endOf(bytes, bytesRead);
}

function endOf(bytes: Buffer, count: number): string {
  return bytes.subarray(startOfCharacter(bytes), count).toString('utf8');
}

/** The cut may fall into a character of several bytes; its rest is left out. */
function startOfCharacter(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start === -1 ? 0 : start;
}
