import { open, rename, rm } from 'node:fs/promises';
import { constants } from 'node:fs';
import { beside } from './beside.ts';
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
  const fresh = beside(path);
  try {
    await create(fresh, content, mode);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
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

/** Writes over what is there before cutting the rest: a reader of a file in place never finds it empty. */
async function fill(path: string, content: string, mode: number): Promise<void> {
  const bytes = Buffer.from(content);
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    await file.chmod(mode);
    await file.writeFile(bytes);
    await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}
