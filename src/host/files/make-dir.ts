import { statSync } from 'node:fs';
import { chmod, mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { beside } from './beside.ts';
import { hasCode, systemError } from './system-error.ts';
import { isExact } from './umask.ts';

/**
 * Creates a directory and its parents. What is there already stays as it is.
 * The directory appears with its mode: a crash in between leaves none with a mode that the umask made.
 */
export async function makeDir(path: string, mode: number): Promise<void> {
  try {
    await make(path, mode);
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTEMPTY')) await checkDirectory(path);
    else if (hasCode(error, 'ENOENT')) {
      await mkdir(dirname(path), { recursive: true });
      await makeDir(path, mode);
    } else throw error;
  }
}

/** Looks at once, which is quicker than to try where it is mostly there. */
export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Errors with EEXIST, or ENOTEMPTY, where something is in the place. */
async function make(path: string, mode: number): Promise<void> {
  if (isExact(mode)) {
    await mkdir(path, mode);
    return;
  }
  await checkVacant(path);
  const fresh = beside(path);
  await mkdir(fresh);
  try {
    await chmod(fresh, mode);
    await rename(fresh, path);
  } catch (error) {
    await rmdir(fresh);
    throw error;
  }
}

/** A rename would take the place of an empty directory. */
async function checkVacant(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  throw systemError('EEXIST', 'the file exists', path);
}

async function checkDirectory(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) {
    throw systemError('ENOTDIR', 'something else is in the place of a directory', path);
  }
}
