import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Applied, CgroupLimits } from '../../streams/ports/cgroups.ts';
import { hasCode } from '../files/system-error.ts';
import type { Hierarchies } from './hierarchies.ts';
import { filesOfVersion1, filesOfVersion2, type LimitFile } from './limit-files.ts';

/**
 * Makes a cgroup with its ancestors and writes its limits. Limits of controllers that the machine does not have are left
 * out: nothing could hold to them. Tells whether it was missing.
 *
 * In version 1 it is made where it has limits: in the other hierarchies the runtime makes it, when it puts something in
 * (runc), with the processors and the memory without which that of `cpuset` would take no process.
 */
export async function applyCgroup(path: string, limits: CgroupLimits, found: Hierarchies): Promise<Applied> {
  if (found.version === 2) {
    const { controllers } = found;
    const wanted = controllers.filter((name) => HANDED_ON.includes(name));
    let made: string | undefined;
    for (const part of lineage(path)) {
      await handOn(join(found.root, dirname(part)), wanted);
      const folder = join(found.root, part);
      made = existsSync(folder) ? undefined : await mkdir(folder, { recursive: true });
    }
    await write(filesOfVersion2(limits), (controller) =>
      controllers.includes(controller) ? join(found.root, path) : undefined,
    );
    return made === undefined ? 'set' : 'made';
  }
  const files = filesOfVersion1(limits);
  const folderOf = (controller: string): string | undefined => {
    const folder = found.folders.get(controller);
    return folder === undefined ? undefined : join(folder, path);
  };
  const folders = new Set(files.map(({ controller }) => folderOf(controller)).filter((folder) => folder !== undefined));
  const made = await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  await write(files, folderOf);
  return made.every((folder) => folder === undefined) ? 'set' : 'made';
}

/** What a cgroup must be able to limit to be one of a pod (facts sheet 11.2). */
const HANDED_ON: readonly string[] = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];

/** `/a/b` as `/a`, `/a/b`. */
function lineage(path: string): readonly string[] {
  const parts = path.split('/').filter(Boolean);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

/** A controller is there for the children of a cgroup only once the cgroup hands it on. */
async function handOn(folder: string, controllers: readonly string[]): Promise<void> {
  const file = join(folder, 'cgroup.subtree_control');
  const there = read(file).split(/\s+/);
  const missing = controllers.filter((name) => !there.includes(name));
  if (missing.length > 0) await writeFile(file, missing.map((name) => `+${name}`).join(' '));
}

/**
 * At once, since the kernel has it in memory: a pod's start had eight ways to a thread of Node and back for this. What is
 * changed may have to wait for others, and is left to threads.
 */
function read(file: string): string {
  return readFileSync(file, 'utf8');
}

async function write(files: readonly LimitFile[], folderOf: (controller: string) => string | undefined): Promise<void> {
  for (const { controller, file, text } of files) {
    const folder = folderOf(controller);
    if (folder === undefined) continue;
    try {
      await writeFile(join(folder, file), text);
    } catch (error) {
      // A kernel without this file does not know the limit, as with sizes of huge pages.
      if (!hasCode(error, 'ENOENT') && !(controller === 'hugetlb' && hasCode(error, 'EACCES'))) throw error;
    }
  }
}
