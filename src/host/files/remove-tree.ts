import { lstat, opendir, realpath, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { mountPoints } from './mount-points.ts';
import { hasCode, systemError } from './system-error.ts';

/**
 * Removes a tree, but nothing that is mounted in it: with a mount at the path or below, nothing is removed.
 * Symbolic links are removed, not followed. Fine when there is nothing.
 */
export async function removeTree(path: string): Promise<void> {
  const root = await statOf(path);
  if (!root) return;
  if (!root.isDirectory) {
    await unlinkIfThere(path);
    return;
  }
  await refuseMounts(path);
  await removeDirectory(path, root.device);
}

/** A bind mount has the device of what it shows, so devices do not tell; the kernel's list does. */
async function refuseMounts(path: string): Promise<void> {
  const real = join(await realpath(dirname(path)), basename(path));
  const mounted = (await mountPoints()).find((point) => point === real || point.startsWith(`${real}/`));
  if (mounted !== undefined) throw systemError('EBUSY', 'a file system is mounted here', mounted);
}

async function removeDirectory(path: string, device: number): Promise<void> {
  const names: string[] = [];
  for await (const { name } of await opendir(path)) names.push(name);

  for (const name of names) {
    const child = join(path, name);
    const stats = await statOf(child);
    if (!stats) continue;
    // Mounted since we looked: leave it.
    if (stats.device !== device) throw systemError('EBUSY', 'another file system is mounted here', child);
    await (stats.isDirectory ? removeDirectory(child, device) : unlinkIfThere(child));
  }
  await ignoreMissing(rmdir(path));
}

interface Stats {
  readonly isDirectory: boolean;
  readonly device: number;
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(path);
    return { isDirectory: stats.isDirectory(), device: stats.dev };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  await ignoreMissing(unlink(path));
}

async function ignoreMissing(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
