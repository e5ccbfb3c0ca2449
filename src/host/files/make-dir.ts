import { chmod, mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { beside } from './beside.ts';
import { hasCode, systemError } from './system-error.ts';

/**
 * Creates a directory and its parents. What is there already stays as it is.
 * The directory appears with its mode: a crash in between leaves none with a mode that the umask made.
 */
export async function makeDir(path: string, mode: number): Promise<void> {
  if (await isDirectory(path)) return;

  await mkdir(dirname(path), { recursive: true });
  const fresh = beside(path);
  await mkdir(fresh);
  try {
    await chmod(fresh, mode);
    await rename(fresh, path);
  } catch (error) {
    await rmdir(fresh);
    // Somebody else made it meanwhile, and has put something into it.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  throw systemError('ENOTDIR', 'something else is in the place of a directory', path);
}
