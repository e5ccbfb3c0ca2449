import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../files/system-error.ts';

/** Where Linux shows cgroups: one tree in version 2, one directory per hierarchy in version 1. */
export const CGROUP_ROOT = '/sys/fs/cgroup';

export type Hierarchies =
  | { readonly version: 2; readonly root: string; readonly controllers: readonly string[] }
  /** By controller; two controllers may share one folder. `unified` is the folder of version 2 in a hybrid set-up. */
  | { readonly version: 1; readonly folders: ReadonlyMap<string, string>; readonly unified?: string };

/** Looks at what is mounted; at once, since the kernel has it in memory, and the first pod waits for it. */
export function hierarchies(root: string = CGROUP_ROOT): Hierarchies {
  const controllers = textOf(join(root, 'cgroup.controllers'));
  if (controllers !== undefined) return { version: 2, root, controllers: controllers.split(/\s+/).filter(Boolean) };
  const folders = new Map<string, string>();
  let unified: string | undefined;
  for (const name of readdirSync(root)) {
    const { folder, isTree, isUnified } = entryOf(join(root, name));
    if (!isTree) continue;
    if (isUnified) unified = folder;
    else folders.set(name, folder);
  }
  return { version: 1, folders, ...(unified === undefined ? {} : { unified }) };
}

/** The same, looked for once: they are mounted when the machine starts. What failed is tried again. */
export function foundOnce(root: string = CGROUP_ROOT): () => Hierarchies {
  let mounted: Hierarchies | undefined;
  return () => (mounted ??= hierarchies(root));
}

function entryOf(path: string): { folder: string; isTree: boolean; isUnified: boolean } {
  const folder = realpathSync(path);
  const isTree = statSync(folder).isDirectory();
  return { folder, isTree, isUnified: textOf(join(folder, 'cgroup.controllers')) !== undefined };
}

/** The root of every tree that a cgroup may be in. */
export function treesOf(found: Hierarchies): readonly string[] {
  if (found.version === 2) return [found.root];
  return [...new Set([...found.folders.values(), ...(found.unified === undefined ? [] : [found.unified])])];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
