import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../files/system-error.ts';

/** Where Linux shows cgroups: one tree in version 2, one directory per hierarchy in version 1. */
export const CGROUP_ROOT = '/sys/fs/cgroup';

export type Hierarchies =
  | { readonly version: 2; readonly root: string; readonly controllers: readonly string[] }
  /** By controller; two controllers may share one folder. The folder of version 2 in a hybrid set-up is none of them. */
  | { readonly version: 1; readonly folders: ReadonlyMap<string, string> };

/** Looks at what is mounted. */
export async function hierarchies(root: string = CGROUP_ROOT): Promise<Hierarchies> {
  const controllers = await textOf(join(root, 'cgroup.controllers'));
  if (controllers !== undefined) return { version: 2, root, controllers: controllers.split(/\s+/).filter(Boolean) };
  const folders = new Map<string, string>();
  for (const name of await readdir(root)) {
    const folder = await realpath(join(root, name));
    if ((await stat(folder)).isDirectory() && (await textOf(join(folder, 'cgroup.controllers'))) === undefined)
      folders.set(name, folder);
  }
  return { version: 1, folders };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
