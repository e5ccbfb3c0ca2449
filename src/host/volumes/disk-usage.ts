import type { Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeUsage } from '../../streams/ports/node-usage.ts';
import { hasCode } from '../files/system-error.ts';

const BLOCK = 512;

/**
 * Bytes that a tree takes on its disk, as `du -x` counts them: a file with several names once. Fine where nothing is.
 * Rejects soon after `signal` is aborted: a tree may be very large.
 */
export async function diskUsage(path: string, signal?: AbortSignal): Promise<number> {
  return (await treeUsage(path, signal)).bytes;
}

/** The same with the inodes of the tree: its files and folders, itself included. */
export async function treeUsage(path: string, signal?: AbortSignal): Promise<TreeUsage> {
  const counted = new Set<number>();
  let inodes = 0;
  const root = await statOf(path);
  const bytes = root ? await add(path, root.dev) : 0;
  return { bytes, inodes };

  async function add(at: string, device: number): Promise<number> {
    signal?.throwIfAborted();
    const stats = await statOf(at);
    if (stats?.dev !== device) return 0;
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (counted.has(stats.ino)) return 0;
      counted.add(stats.ino);
    }
    inodes += 1;
    let bytes = stats.blocks * BLOCK;
    if (!stats.isDirectory()) return bytes;
    try {
      for await (const { name } of await opendir(at)) bytes += await add(join(at, name), device);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    return bytes;
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
