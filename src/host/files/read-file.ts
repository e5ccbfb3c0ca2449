import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { hasCode, systemError } from './system-error.ts';

/** The text of a file, or of its last `tailBytes` bytes; `undefined` where there is none. */
export async function readFile(path: string, tailBytes?: number): Promise<string | undefined> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK a pipe in the place of a file would hold a thread of Node for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    const { size, ...stats } = await describe(file, path);
    // Files of /proc and /sys say that they are empty; only reading tells.
    return stats.tells && tailBytes !== undefined && size > tailBytes
      ? await readTail(file, size, tailBytes)
      : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function describe(file: FileHandle, path: string): Promise<{ readonly size: number; readonly tells: boolean }> {
  const stats = await file.stat();
  if (stats.isDirectory()) throw systemError('EISDIR', 'is a directory', path);
  if (!stats.isFile()) throw systemError('EINVAL', 'is not a file', path);
  return { size: stats.size, tells: stats.size > 0 };
}

async function readTail(file: FileHandle, size: number, tailBytes: number): Promise<string> {
  const bytes = Buffer.alloc(tailBytes);
  const { bytesRead } = await file.read(bytes, 0, tailBytes, size - tailBytes);
  return bytes.subarray(startOfCharacter(bytes), bytesRead).toString('utf8');
}

/** The cut may fall into a character of several bytes; its rest is left out. */
function startOfCharacter(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start === -1 ? 0 : start;
}
