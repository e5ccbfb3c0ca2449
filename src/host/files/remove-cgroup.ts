import { readdir, realpath, rmdir, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { hasCode, systemError } from './system-error.ts';

/** Where Linux shows cgroups: one tree in version 2, one directory per hierarchy in version 1. */
export const CGROUP_ROOT = '/sys/fs/cgroup';

/**
 * Removes a cgroup and those below it in every hierarchy, the innermost first. Fine where there is none.
 * Errors with EBUSY while a process is left in one; the others are removed nevertheless.
 */
export async function removeCgroup(cgroupPath: string, root: string = CGROUP_ROOT): Promise<void> {
  if (normalize(join('/', cgroupPath)) === '/' || cgroupPath.split('/').includes('..')) {
    throw systemError('EINVAL', 'not a cgroup to remove', cgroupPath);
  }
  const trees = (await hierarchies(root)).map((hierarchy) => join(hierarchy, cgroupPath));
  const results = await Promise.allSettled(trees.map(removeFrom));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}

async function hierarchies(root: string): Promise<readonly string[]> {
  if (await exists(join(root, 'cgroup.controllers'))) return [root];
  // Links such as cpu -> cpu,cpuacct lead to the same hierarchy.
  return [...new Set(await Promise.all((await readdir(root)).map((name) => realpath(join(root, name)))))];
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

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
