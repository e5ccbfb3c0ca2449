import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../files/system-error.ts';
import { treesOf, type Hierarchies } from './hierarchies.ts';
import { removeCgroup } from './remove-cgroup.ts';

const TRIES = 5;
/** Milliseconds that processes get to vanish after they were killed; doubled from one try to the next. */
const PAUSE = 20;

/** Kills every process in a cgroup and below it, and removes it. Errors with EBUSY where some are still there after five tries. */
export async function emptyCgroup(path: string, found: Hierarchies): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await removeCgroup(path, found);
      return;
    } catch (error) {
      if (!hasCode(error, 'EBUSY') || attempt === TRIES) throw error;
      for (const pid of await processesIn(path, found)) kill(pid);
      await delay(PAUSE * 2 ** (attempt - 1));
    }
  }
}

/** Whether any process is in a cgroup or below it. */
export async function isBusy(path: string, found: Hierarchies): Promise<boolean> {
  return (await processesIn(path, found)).size > 0;
}

async function processesIn(path: string, found: Hierarchies): Promise<ReadonlySet<number>> {
  const lists = await Promise.all(treesOf(found).map((tree) => processesBelow(join(tree, path))));
  return new Set(lists.flat());
}

async function processesBelow(folder: string): Promise<readonly number[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const text = await readFile(join(folder, 'cgroup.procs'), 'utf8');
    const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => processesBelow(join(folder, name)));
    return [...text.split('\n').filter(Boolean).map(Number), ...(await Promise.all(below)).flat()];
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return [];
    throw error;
  }
}

/** Of another pid namespace the kernel tells 0, which would be ourselves. */
function kill(pid: number): void {
  if (pid <= 1 || pid === process.pid) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
