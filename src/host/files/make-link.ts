import { lstat, rename, rm, symlink } from 'node:fs/promises';
import { beside } from './beside.ts';
import { hasCode } from './system-error.ts';

/** Makes a symbolic link, in the place of an older one if need be. Never replaces a file or a directory: EEXIST. */
export async function makeLink(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !(await lstat(path)).isSymbolicLink()) throw error;
    await replaceLink(target, path);
  }
}

async function replaceLink(target: string, path: string): Promise<void> {
  const fresh = beside(path);
  await symlink(target, fresh);
  try {
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
