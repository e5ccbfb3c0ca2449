import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../files/system-error.ts';
import type { MountedAt } from '../../streams/ports/mounts.ts';

/**
 * The mounts at a path and below in this process's mount namespace, in the order in which they were made. The kernel
 * tells them by their real paths; here they begin with the path as it was given.
 */
export async function mountsBelow(path: string): Promise<readonly MountedAt[]> {
  const real = await realPathOf(path);
  if (real === undefined) return [];
  const mounts = parseMountTable(await readFile('/proc/self/mountinfo', 'utf8'));
  return mounts
    .filter(({ target }) => target === real || target.startsWith(`${real}/`))
    .map(({ target, type }) => ({ target: path + target.slice(real.length), type }));
}

/** Only of the folder that holds it: whether there is a link at the path itself is not for us to follow. */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return join(await realpath(dirname(path)), basename(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Columns 5 and, after the dash, 9 of /proc/self/mountinfo; blanks in it are written as `\040` (proc(5)). */
function parseMountTable(mountInfo: string): readonly MountedAt[] {
  return mountInfo.split('\n').flatMap((line) => {
    const columns = line.split(' ');
    const target = columns[4];
    const type = columns[columns.indexOf('-') + 1];
    return target === undefined || type === undefined ? [] : [{ target: unescapeOctal(target), type }];
  });
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
