import { constants } from 'node:fs';
import { chmod, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode, systemError } from '../files/system-error.ts';

/** Opens a name without the right to read it: enough to stat, to descend and to bind (open(2)). Node does not name it. */
const O_PATH = 0o10000000;

/** The object behind an open handle, whatever stands at its name by now. */
export function pathOf(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/**
 * Opens what stands at a path inside of `root`. Links are followed as long as they stay inside; the way that they
 * lead is then gone once more, name by name and following none, so that one swapped in since is found out.
 */
export async function openInside(root: string, path: string): Promise<FileHandle> {
  const base = await realpath(root);
  return openNames(base, namesOf(base, await realpath(join(root, path))));
}

/**
 * Makes a directory and those above it inside of `root`, with the permission bits given. What is there already stays.
 * Never makes anything outside, nor through a link that was put in the way meanwhile.
 */
export async function makeInside(root: string, path: string, mode: number): Promise<void> {
  const base = await realpath(root);
  const wanted = path.split('/').filter((name) => name !== '' && name !== '.');
  const { real, count } = await longestThere(base, wanted);
  let at = await openNames(base, namesOf(base, real));
  try {
    for (const name of wanted.slice(count)) {
      await ignore(mkdir(`${pathOf(at)}/${name}`), 'EEXIST');
      at = await descend(at, name);
      if (!(await at.stat()).isDirectory()) throw systemError('ENOTDIR', 'not a directory', join(root, path));
      await chmod(pathOf(at), mode); // mkdir(2) obeys the umask
    }
  } finally {
    await at.close();
  }
}

/** How many of the names lead to something that is there, and to what. */
async function longestThere(base: string, names: readonly string[]): Promise<{ real: string; count: number }> {
  for (let count = names.length; count > 0; count -= 1) {
    try {
      return { real: await realpath(join(base, ...names.slice(0, count))), count };
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return { real: base, count: 0 };
}

function namesOf(base: string, real: string): readonly string[] {
  const names = relative(base, real)
    .split('/')
    .filter((name) => name !== '');
  if (names[0] === '..') throw systemError('EXDEV', 'leads out of the volume', real);
  return names;
}

/** Opens what stands at the end of a way of names, none of which may be a link. */
export async function openNames(base: string, names: readonly string[]): Promise<FileHandle> {
  let at = await open(base, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY).catch(() =>
    open(base, O_PATH | constants.O_NOFOLLOW),
  );
  for (const name of names) at = await descend(at, name);
  return at;
}

/** One name further down; the handle above is closed in any case. */
async function descend(above: FileHandle, name: string): Promise<FileHandle> {
  try {
    const handle = await open(`${pathOf(above)}/${name}`, O_PATH | constants.O_NOFOLLOW);
    if (!(await handle.stat()).isSymbolicLink()) return handle;
    await handle.close();
    throw systemError('ELOOP', 'a symbolic link was put in the way', name);
  } finally {
    await above.close();
  }
}

async function ignore(act: Promise<unknown>, code: string): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!hasCode(error, code)) throw error;
  }
}
