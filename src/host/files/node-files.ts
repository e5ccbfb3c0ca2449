import { readdir, readlink, unlink } from 'node:fs/promises';
import { defer, map, type Observable } from 'rxjs';
import type { Files } from '../../streams/ports/files.ts';
import { isDirectory, makeDir } from './make-dir.ts';
import { makeLink } from './make-link.ts';
import { readAtOnce, readFile } from './read-file.ts';
import { foundOnce } from '../cgroups/hierarchies.ts';
import { removeCgroup } from '../cgroups/remove-cgroup.ts';
import { removeTree } from './remove-tree.ts';
import { hasCode } from './system-error.ts';
import { typeOf } from './type-of.ts';
import { isWritten, writeFile } from './write-file.ts';

/**
 * The file system of this machine. A call that has been sent to the kernel cannot be taken back: unsubscribing
 * only stops listening, so each of these leaves a state that is safe to find.
 *
 * What `isAtHand` is looked at and read at once, without a thread; what is to be changed never is, since a disk may make
 * it wait.
 */
export function nodeFiles(isAtHand: (path: string) => boolean = () => false): Files {
  const cgroups = foundOnce();
  return {
    makeDir: (path, mode) => done(async () => (isAtHand(path) && isDirectory(path)) || makeDir(path, mode)),
    writeFile: (path, content, options) =>
      done(async () => (isAtHand(path) && isWritten(path, content, options)) || writeFile(path, content, options)),
    readFile: (path, options) =>
      defer(async () => (isAtHand(path) ? readAtOnce(path, options?.tailBytes) : readFile(path, options?.tailBytes))),
    list: (path) => defer(() => orElse(readdir(path), [], 'ENOENT')).pipe(map((names) => [...names].sort())),
    typeOf: (path) => defer(() => typeOf(path)),
    link: (target, path) => done(() => makeLink(target, path)),
    readLink: (path) => defer(() => orElse(readlink(path), undefined, 'ENOENT', 'ENOTDIR', 'EINVAL')),
    removeFile: (path) => done(() => orElse(unlink(path), undefined, 'ENOENT', 'ENOTDIR')),
    removeTree: (path) => done(() => removeTree(path)),
    removeCgroup: (cgroupPath) => done(async () => removeCgroup(cgroupPath, cgroups())),
  };
}

function done(act: () => Promise<unknown>): Observable<undefined> {
  return defer(act).pipe(map(() => undefined));
}

/** What a call yields, or a value in the place of one of these errors. */
async function orElse<T, E>(call: Promise<T>, value: E, ...codes: readonly string[]): Promise<T | E> {
  try {
    return await call;
  } catch (error) {
    if (hasCode(error, ...codes)) return value;
    throw error;
  }
}
