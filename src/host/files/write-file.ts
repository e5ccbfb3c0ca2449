import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { beside } from './beside.ts';
import { hasCode } from './system-error.ts';
import { isExact } from './umask.ts';

export interface WriteOptions {
  readonly mode: number;
  /** Keeps the inode, for files that are bind-mounted somewhere; a reader may then see a part. */
  readonly inPlace?: boolean;
}

/** Replaces the content of a file, and its mode, in one step; with `inPlace` in the file itself. */
export async function writeFile(path: string, content: string, { mode, inPlace = false }: WriteOptions): Promise<void> {
  if (inPlace) {
    await fill(path, content, mode);
    return;
  }
  if (content === '' && (await makeEmpty(path, mode))) return;
  const fresh = beside(path);
  try {
    await create(fresh, content, mode);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Whether a file that is to be written in place holds just this already, with its mode; looks at once. */
export function isWritten(path: string, content: string, { mode, inPlace = false }: WriteOptions): boolean {
  if (!inPlace) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return false; // what is wrong with it is told when it is written
  }
  try {
    const wanted = Buffer.from(content);
    const stats = fstatSync(file);
    if (!stats.isFile() || (stats.mode & 0o7777) !== mode || stats.size !== wanted.length) return false;
    const found = Buffer.alloc(wanted.length);
    return readSync(file, found) === wanted.length && found.equals(wanted);
  } finally {
    closeSync(file);
  }
}

async function create(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', isExact(mode) ? mode : 0o600);
  try {
    if (!isExact(mode)) await file.chmod(mode);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** Tells whether nothing was there; of a file without content nobody sees a part. */
async function makeEmpty(path: string, mode: number): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', mode);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    if (!isExact(mode)) await file.chmod(mode);
  } finally {
    await file.close();
  }
  return true;
}

/** Writes over what is there before cutting the rest: a reader of a file in place never finds it empty. */
async function fill(path: string, content: string, mode: number): Promise<void> {
  const bytes = Buffer.from(content);
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT, isExact(mode) ? mode : 0o600);
  try {
    const before = fstatSync(file.fd);
    if ((before.mode & 0o7777) !== mode) await file.chmod(mode);
    await file.writeFile(bytes);
    if (before.size > bytes.length) await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}
