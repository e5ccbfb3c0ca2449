import { readdir, rmdir } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { hasCode, systemError } from '../files/system-error.ts';
import { treesOf, type Hierarchies } from './hierarchies.ts';

/**
 * Removes a cgroup and those below it in every hierarchy, the innermost first. Fine where there is none.
 * Errors with EBUSY while a process is left in one; the others are removed nevertheless.
 */
export async function removeCgroup(cgroupPath: string, found: Hierarchies): Promise<void> {
  if (normalize(join('/', cgroupPath)) === '/' || cgroupPath.split('/').includes('..')) {
    throw systemError('EINVAL', 'not a cgroup to remove', cgroupPath);
  }
  const trees = treesOf(found).map((tree) => join(tree, cgroupPath));
  const results = await Promise.allSettled(trees.map(removeFrom));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Only its directories can be removed from a cgroup; the files in it go with it. */
async function removeFrom(path: string): Promise<void> {
  try {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await removeFrom(join(path, entry.name));
    }
    await rmdir(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
  }
}
