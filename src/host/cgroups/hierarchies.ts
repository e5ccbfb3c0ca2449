import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../files/system-error.ts';

/** Where Linux shows cgroups: one tree in version 2, one directory per hierarchy in version 1. */
export const CGROUP_ROOT = '/sys/fs/cgroup';

export type Hierarchies =
  | { readonly version: 2; readonly root: string; readonly controllers: readonly string[] }
  /** By controller; two controllers may share one folder. `unified` is the folder of version 2 in a hybrid set-up. */
  | { readonly version: 1; readonly folders: ReadonlyMap<string, string>; readonly unified?: string };

/** Looks at what is mounted. */
export async function hierarchies(root: string = CGROUP_ROOT): Promise<Hierarchies> {
  const controllers = await textOf(join(root, 'cgroup.controllers'));
  if (controllers !== undefined) return { version: 2, root, controllers: controllers.split(/\s+/).filter(Boolean) };
  const folders = new Map<string, string>();
  let unified: string | undefined;
  const names = await readdir(root);
  const entries = await Promise.all(names.map((name) => entryOf(join(root, name))));
  for (const [index, entry] of entries.entries()) {
    if (!entry.isTree) continue;
    if (entry.isUnified) unified = entry.folder;
    else folders.set(names[index] ?? '', entry.folder);
  }
  return { version: 1, folders, ...(unified === undefined ? {} : { unified }) };
}

/** The same, looked for once: they are mounted when the machine starts. What failed is tried again. */
export function foundOnce(root: string = CGROUP_ROOT): () => Promise<Hierarchies> {
  let mounted: Promise<Hierarchies> | undefined;
  return () =>
    (mounted ??= hierarchies(root).catch((error: unknown) => {
      mounted = undefined;
      throw error;
    }));
}

async function entryOf(path: string): Promise<{ folder: string; isTree: boolean; isUnified: boolean }> {
  const folder = await realpath(path);
  const [found, controllers] = await Promise.all([stat(folder), textOf(join(folder, 'cgroup.controllers'))]);
  return { folder, isTree: found.isDirectory(), isUnified: controllers !== undefined };
}

/** The root of every tree that a cgroup may be in. */
export function treesOf(found: Hierarchies): readonly string[] {
  if (found.version === 2) return [found.root];
  return [...new Set([...found.folders.values(), ...(found.unified === undefined ? [] : [found.unified])])];
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
