import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, systemError } from '../files/system-error.ts';
import type { Payload } from '../../streams/ports/volume-files.ts';

const DATA = '..data';
const FRESH_DATA = '..data_tmp';

/**
 * Replaces all files of a volume at once. Emits whether there was anything to replace.
 *
 * ```text
 * labels -> ..data/labels        what the container opens
 * ..data -> ..2026_11_29_…       swapped by one rename
 * ..2026_11_29_…/labels          written whole before the swap, removed after the next one
 * ```
 *
 * `beforeSwap` runs when the new files are there and not yet in sight. A crash leaves the old files in sight, and
 * rubbish that the next call clears away. Layout and names are the kubelet's (facts sheet 15.3).
 */
export async function writePayload(
  dir: string,
  payload: Payload,
  beforeSwap: () => Promise<void>,
  now: Date = new Date(),
): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const current = await currentOf(dir);
  if (current !== undefined && (await holds(join(dir, current), payload)) && (await areLinked(dir, payload))) {
    return false;
  }
  const fresh = await writeFresh(dir, payload, now);
  try {
    await rm(join(dir, FRESH_DATA), { force: true });
    await symlink(fresh, join(dir, FRESH_DATA));
    await beforeSwap();
    await rename(join(dir, FRESH_DATA), join(dir, DATA));
  } catch (error) {
    await rm(join(dir, FRESH_DATA), { force: true });
    await rm(join(dir, fresh), { recursive: true, force: true });
    throw error;
  }
  await settleLinks(dir, payload, fresh);
  return true;
}

function checkPath(path: string): void {
  const names = path.split('/');
  const isBad = names.some((name) => name === '' || name === '.' || name === '..') || path.startsWith('..');
  if (isBad || Buffer.byteLength(path) > 4096) throw systemError('EINVAL', 'not a path for a file of a volume', path);
}

/** The directory that is in sight; one that has gone counts as none. */
async function currentOf(dir: string): Promise<string | undefined> {
  try {
    const target = await readlink(join(dir, DATA));
    await lstat(join(dir, target));
    return target;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}

/** Whether a directory has exactly these files. Permission bits count only as far as the group's do not: those come later. */
async function holds(dir: string, payload: Payload): Promise<boolean> {
  const paths = await filesBelow(dir, '');
  if (paths.length !== payload.size) return false;
  for (const path of paths) {
    const wanted = payload.get(path);
    if (!wanted) return false;
    const { mode } = await lstat(join(dir, path));
    if (((mode ^ wanted.mode) & 0o707) !== 0 || !Buffer.from(wanted.content).equals(await readFile(join(dir, path)))) {
      return false;
    }
  }
  return true;
}

async function areLinked(dir: string, payload: Payload): Promise<boolean> {
  const linked = await linksOf(dir);
  const wanted = topNames(payload);
  return linked.length === wanted.size && linked.every((name) => wanted.has(name));
}

async function filesBelow(root: string, below: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    paths.push(...(entry.isDirectory() ? await filesBelow(root, path) : [path]));
  }
  return paths;
}

async function writeFresh(dir: string, payload: Payload, now: Date): Promise<string> {
  const stamp = now.toISOString().slice(0, 19).replace(/[-T:]/g, '_');
  const fresh = `..${stamp}.${randomBytes(4).readUInt32BE()}`;
  await mkdir(join(dir, fresh));
  try {
    await chmod(join(dir, fresh), 0o755);
    for (const [path, { content, mode }] of payload) {
      const at = join(dir, fresh, path);
      for (const parent of parentsOf(path)) await makeDirectory(join(dir, fresh, parent));
      const file = await open(at, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.chmod(mode);
      } finally {
        await file.close();
      }
    }
  } catch (error) {
    await rm(join(dir, fresh), { recursive: true, force: true });
    throw error;
  }
  return fresh;
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
    await chmod(path, 0o755);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function parentsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...parentsOf(parent), parent];
}

/** The first name of every path: what the container sees in the volume. */
function topNames(payload: Payload): ReadonlySet<string> {
  return new Set([...payload.keys()].map((path) => path.split('/', 1)[0] ?? path));
}

/** Makes the names that are new and removes those that are no more, and with them what earlier calls have left. */
async function settleLinks(dir: string, payload: Payload, fresh: string): Promise<void> {
  const wanted = topNames(payload);
  const linked = await linksOf(dir);
  for (const name of wanted) {
    if (!linked.includes(name)) await symlink(join(DATA, name), join(dir, name));
  }
  for (const name of linked) {
    if (!wanted.has(name)) await rm(join(dir, name), { force: true });
  }
  for (const name of await readdir(dir)) {
    if (STAMPED.test(name) && name !== fresh) await rm(join(dir, name), { recursive: true, force: true });
  }
}

const STAMPED = /^\.\.\d{4}(?:_\d\d){5}\.\d+$/;

/** Names that lead into `..data`; a directory that was made for a mount inside of the volume is none of ours. */
async function linksOf(dir: string): Promise<readonly string[]> {
  const links: string[] = [];
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (!entry.isSymbolicLink() || entry.name.startsWith('..')) continue;
    if ((await readlink(join(dir, entry.name))) === join(DATA, entry.name)) links.push(entry.name);
  }
  return links;
}
