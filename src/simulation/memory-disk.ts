import type { PathType } from '../streams/ports/files.ts';
import { systemError } from './system-error.ts';

/** What stands at one path. */
type MemoryNode =
  | { readonly type: Exclude<PathType, 'missing' | 'file'>; readonly mode: number }
  | { readonly type: 'file'; readonly mode: number; readonly content: string }
  | { readonly type: 'link'; readonly target: string };

/** What a disk still takes: everything, no more bytes and names (ENOSPC), or no change at all (EROFS). */
export type DiskState = 'ok' | 'full' | 'readOnly';

export interface MemoryDisk {
  readonly setState: (state: DiskState) => void;
  /** Throws where nothing can be written to a path now. */
  readonly needRoom: (path: string) => void;
  /** Everything there is, by absolute path. */
  readonly nodes: ReadonlyMap<string, MemoryNode>;
  /** Paths at which something is mounted: trees with one of these in them cannot be removed. */
  readonly mounts: Set<string>;
  /** Puts something at a path, and directories above it where they are missing. */
  readonly put: (path: string, node: MemoryNode) => void;

  // What the port `Files` says of the members of these names.
  readonly makeDir: (path: string, mode: number) => void;
  readonly writeFile: (path: string, content: string, mode: number, inPlace: boolean) => void;
  readonly readFile: (path: string, tailBytes?: number) => string | undefined;
  readonly list: (path: string) => readonly string[];
  readonly typeOf: (path: string) => PathType;
  readonly link: (target: string, path: string) => void;
  readonly readLink: (path: string) => string | undefined;
  readonly removeFile: (path: string) => void;
  readonly removeTree: (path: string) => void;
}

const LINKS_TO_FOLLOW = 40;
const DEFAULT_MODE = 0o755;

/** An empty disk. Errors have the codes of the operating system. */
export function memoryDisk(): MemoryDisk {
  const nodes = new Map<string, MemoryNode>([['/', { type: 'directory', mode: DEFAULT_MODE }]]);
  /** Names in each directory. */
  const names = new Map<string, Set<string>>();
  const mounts = new Set<string>();
  let state: DiskState = 'ok';

  function needRoom(path: string): void {
    if (state === 'full') throw systemError('ENOSPC', 'no space left on device', path);
    needWritable(path);
  }

  function needWritable(path: string): void {
    if (state === 'readOnly') throw systemError('EROFS', 'read-only file system', path);
  }

  function put(path: string, node: MemoryNode): void {
    for (const parent of parentsOf(path)) {
      if (!nodes.has(parent)) stand(parent, { type: 'directory', mode: DEFAULT_MODE });
    }
    stand(path, node);
  }

  /** Follows links, the last one too unless told otherwise. */
  function resolve(path: string, { last = true } = {}, left: number = LINKS_TO_FOLLOW): string {
    if (left === 0) throw systemError('ELOOP', 'too many links', path);
    // Things stand at paths without links, so what stands at this very path is reached through none.
    const there = nodes.get(path);
    if (there && (there.type !== 'link' || !last)) return path;
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    let at = '';
    for (const [index, part] of parts.entries()) {
      at = part === '..' ? at.replace(/\/[^/]*$/, '') : `${at}/${part}`;
      const node = nodes.get(at);
      if (node?.type !== 'link' || (index === parts.length - 1 && !last)) continue;
      const rest = parts.slice(index + 1).join('/');
      const target = node.target.startsWith('/') ? node.target : `${at.replace(/\/[^/]*$/, '')}/${node.target}`;
      return resolve(`${target}/${rest}`, { last }, left - 1);
    }
    return at === '' ? '/' : at;
  }

  function stand(path: string, node: MemoryNode): void {
    nodes.set(path, node);
    const [dir, name] = split(path);
    const others = names.get(dir);
    if (others) others.add(name);
    else names.set(dir, new Set([name]));
  }

  function fall(path: string): void {
    nodes.delete(path);
    const [dir, name] = split(path);
    const others = names.get(dir);
    others?.delete(name);
    if (others?.size === 0) names.delete(dir);
  }

  function below(path: string): readonly string[] {
    return [...(names.get(path) ?? [])].flatMap((name) => [`${path}/${name}`, ...below(`${path}/${name}`)]);
  }

  function needParent(path: string): void {
    const parent = nodes.get(path.replace(/\/[^/]*$/, '') || '/');
    if (!parent) throw systemError('ENOENT', 'no such directory', path);
    if (parent.type !== 'directory') throw systemError('ENOTDIR', 'not a directory', path);
  }

  function makeDir(path: string, mode: number): void {
    const at = resolve(path);
    const node = nodes.get(at);
    const blocked = parentsOf(at).find((parent) => nodes.has(parent) && nodes.get(parent)?.type !== 'directory');
    if (blocked !== undefined || (node && node.type !== 'directory')) {
      throw systemError('ENOTDIR', 'something else is in the place of a directory', blocked ?? path);
    }
    if (node) return;
    needRoom(path);
    put(at, { type: 'directory', mode });
  }

  function writeFile(path: string, content: string, mode: number, inPlace: boolean): void {
    const at = resolve(path, { last: inPlace });
    needParent(at);
    if (nodes.get(at)?.type === 'directory') throw systemError('EISDIR', 'is a directory', path);
    needRoom(path);
    stand(at, { type: 'file', mode, content });
  }

  function readFile(path: string, tailBytes: number = Number.POSITIVE_INFINITY): string | undefined {
    const node = nodes.get(resolve(path));
    if (!node) return undefined;
    if (node.type !== 'file') throw systemError(node.type === 'directory' ? 'EISDIR' : 'EINVAL', 'is not a file', path);
    const bytes = new TextEncoder().encode(node.content);
    return bytes.length <= tailBytes
      ? node.content
      : new TextDecoder().decode(bytes.subarray(bytes.length - tailBytes));
  }

  function list(path: string): readonly string[] {
    const at = resolve(path);
    const node = nodes.get(at);
    if (node && node.type !== 'directory') throw systemError('ENOTDIR', 'not a directory', path);
    return [...(names.get(at === '/' ? '' : at) ?? [])].sort();
  }

  function typeOf(path: string): PathType {
    const node = nodes.get(resolve(path));
    return node === undefined || node.type === 'link' ? 'missing' : node.type;
  }

  function link(target: string, path: string): void {
    const at = resolve(path, { last: false });
    needParent(at);
    const node = nodes.get(at);
    if (node && node.type !== 'link') throw systemError('EEXIST', 'something else is in the place of a link', path);
    needRoom(path);
    stand(at, { type: 'link', target });
  }

  function removeFile(path: string): void {
    const at = resolve(path, { last: false });
    if (nodes.get(at)?.type === 'directory') throw systemError('EISDIR', 'is a directory', path);
    if (nodes.has(at)) needWritable(path);
    fall(at);
  }

  function removeTree(path: string): void {
    const at = resolve(path, { last: false });
    const doomed = [at, ...below(at)];
    const mounted = doomed.find((other) => mounts.has(other));
    if (mounted !== undefined) throw systemError('EBUSY', 'a file system is mounted here', mounted);
    if (nodes.has(at)) needWritable(path);
    for (const other of doomed.toReversed()) if (nodes.has(other)) fall(other);
  }

  function readLink(path: string): string | undefined {
    const node = nodes.get(resolve(path, { last: false }));
    return node?.type === 'link' ? node.target : undefined;
  }

  return {
    setState: (next) => {
      state = next;
    },
    needRoom,
    nodes,
    mounts,
    put,
    makeDir,
    writeFile,
    readFile,
    list,
    typeOf,
    link,
    readLink,
    removeFile,
    removeTree,
  };
}

/** The directory (empty for the root) and the name. */
function split(path: string): readonly [dir: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, slash), path.slice(slash + 1)];
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_part, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
