import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, finalize, from, type Observable } from 'rxjs';
import type { DiskUsage, NodeUsage } from '../../streams/ports/node-usage.ts';
import { hasCode } from '../files/system-error.ts';
import { treeUsage } from '../volumes/disk-usage.ts';
import { foundOnce } from '../cgroups/hierarchies.ts';
import { cgroupUsage } from './cgroup-usage.ts';
import { machineUsage } from './machine-usage.ts';

/** The real machine. Looks are cheap reads of /proc, /sys and of folders; no amount is kept between them. */
export function nodeUsage(): NodeUsage {
  const cgroups = foundOnce();
  return {
    machine: () => cold(machineUsage),
    cgroup: (path) => cold(async () => cgroupUsage(path, cgroups())),
    disk: (path) => cold(() => diskOf(path)),
    device: (path) => cold(() => unlessGone(async () => (await stat(path)).dev)),
    tree: (path) =>
      defer(() => {
        const abort = new AbortController();
        return from(treeUsage(path, abort.signal)).pipe(
          finalize(() => {
            abort.abort();
          }),
        );
      }),
    filesIn: (folder) => cold(() => sizeOf(folder)),
  };
}

function cold<T>(look: () => Promise<T>): Observable<T> {
  return defer(() => from(look()));
}

async function diskOf(path: string): Promise<DiskUsage | undefined> {
  return unlessGone(async () => {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
    return {
      available: bsize * bavail,
      capacity: bsize * blocks,
      used: bsize * (blocks - bfree),
      inodes: files,
      inodesFree: ffree,
    };
  });
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await unlessGone(() => readdir(folder))) ?? [];
  const sizes = await Promise.all(
    names.map((name) => unlessGone(async () => (await stat(join(folder, name))).blocks * BLOCK)),
  );
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Bytes of the blocks that stat counts in. */
const BLOCK = 512;

async function unlessGone<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
