import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, map, type Observable } from 'rxjs';
import type { Cgroups } from '../../streams/ports/cgroups.ts';
import { hasCode } from '../files/system-error.ts';
import { applyCgroup } from './apply-cgroup.ts';
import { emptyCgroup } from './empty-cgroup.ts';
import { CGROUP_ROOT, foundOnce, treesOf, type Hierarchies } from './hierarchies.ts';
import { removeCgroup } from './remove-cgroup.ts';

/** The cgroups of this machine through its file system, version 1 and 2 alike (driver `cgroupfs`). */
export function nodeCgroups(root: string = CGROUP_ROOT): Cgroups {
  const found = foundOnce(root);
  return {
    apply: (path, limits) => defer(async () => applyCgroup(path, limits, found())),
    remove: (path, how) =>
      done(async () => (how === 'kill' ? emptyCgroup(path, found()) : removeCgroup(path, found()))),
    children: (path) => defer(async () => childrenOf(path, found())),
  };
}

/** In version 1 a cgroup that is gone from some hierarchies is still there in others. */
export async function childrenOf(path: string, found: Hierarchies): Promise<readonly string[]> {
  const names = await Promise.all(treesOf(found).map((tree) => directoriesIn(join(tree, path))));
  return [...new Set(names.flat())].sort();
}

async function directoriesIn(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

function done(act: () => Promise<void>): Observable<undefined> {
  return defer(act).pipe(map(() => undefined));
}
