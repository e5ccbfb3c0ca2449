import type { Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../files/system-error.ts';

const BLOCK = 512;

/**
 * Bytes that a tree takes on its disk, as `du -x` counts them: a file with several names once. Fine where nothing is.
 * Rejects soon after `signal` is aborted: a tree may be very large.
 */
export async function diskUsage(path: string, signal?: AbortSignal): Promise<number> {
  const counted = new Set<number>();
  const root = await statOf(path);
  return root ? add(path, root.dev) : 0;

  async function add(at: string, device: number): Promise<number> {
    signal?.throwIfAborted();
    const stats = await statOf(at);
    if (stats?.dev !== device) return 0;
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (counted.has(stats.ino)) return 0;
      counted.add(stats.ino);
    }
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
