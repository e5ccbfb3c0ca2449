import { open, rename, rm } from 'node:fs/promises';
import { constants } from 'node:fs';
import { beside } from './beside.ts';

export interface WriteOptions {
  readonly mode: number;
  /** Keeps the inode, for files that are bind-mounted somewhere; a reader may then see a part. */
  readonly inPlace?: boolean;
}

/** Replaces the content of a file, and its mode, in one step; with `inPlace` in the file itself. */
export async function writeFile(path: string, content: string, { mode, inPlace = false }: WriteOptions): Promise<void> {
  if (inPlace) {
    await fill(path, constants.O_WRONLY | constants.O_CREAT, content, mode);
    return;
  }
  const fresh = beside(path);
  try {
    await fill(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, content, mode);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Writes over what is there before cutting the rest: a reader of a file in place never finds it empty. */
async function fill(path: string, flags: number, content: string, mode: number): Promise<void> {
  const bytes = Buffer.from(content);
  const file = await open(path, flags, 0o600);
  try {
    await file.chmod(mode);
    await file.writeFile(bytes);
    await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}
