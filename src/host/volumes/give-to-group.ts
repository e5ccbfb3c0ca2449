import { chmod, lchown, lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stats } from 'node:fs';
import { hasCode } from '../files/system-error.ts';
import type { GroupOwnership } from '../../streams/ports/volume-files.ts';

const READ_WRITE = 0o660;
const READ = 0o440;
/** Whoever may read a directory may enter it, and what is made in it gets its group. */
const DIRECTORY = 0o2110;

/**
 * Gives a tree to a group: its permission bits are added, never taken (facts sheet 15.3). The root comes last, so
 * that a tree which was left half done does not look done. Links get the group and are not followed.
 */
export async function giveToGroup(path: string, ownership: GroupOwnership): Promise<void> {
  if (ownership.onlyOnMismatch && matches(await stat(path), ownership)) return;
  await give(path, await lstat(path), ownership);
}

function matches({ gid, mode }: Stats, { group, readOnly }: GroupOwnership): boolean {
  const needed = DIRECTORY | (readOnly ? READ : READ_WRITE);
  return gid === group && (mode & needed) === needed;
}

async function give(path: string, stats: Stats, ownership: GroupOwnership): Promise<void> {
  if (stats.isDirectory()) {
    const names: string[] = [];
    for await (const { name } of await opendir(path)) names.push(name);
    for (const name of names) {
      const child = join(path, name);
      const found = await unlessGone(lstat(child));
      if (found) await unlessGone(give(child, found, ownership));
    }
  }
  const { group, readOnly } = ownership;
  const bits = (readOnly ? READ : READ_WRITE) | (stats.isDirectory() ? DIRECTORY : 0);
  await lchown(path, stats.uid, group);
  if (!stats.isSymbolicLink()) await chmod(path, (stats.mode & 0o7777) | bits);
}

/** A container may be at work in the volume. */
async function unlessGone<T>(act: Promise<T>): Promise<T | undefined> {
  try {
    return await act;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
