import type { Observable } from 'rxjs';
import { SubPathError, type Mounts } from '../streams/ports/mounts.ts';
import type { Calls } from './calls.ts';
import type { MemoryDisk } from './memory-disk.ts';
import { systemError } from './system-error.ts';

/**
 * The mounts port on a disk in memory. A mount is a mark on the disk that keeps the tree from being removed; the mounts
 * that the disk had by itself are somebody else's.
 */
export function memoryMounts(disk: MemoryDisk, calls: Calls): Mounts {
  const types = new Map<string, string>();

  function asks<T>(name: string, request: unknown, act: () => T): Observable<T> {
    return calls.call({ name: `mounts.${name}`, request, act });
  }

  function does(name: string, request: unknown, act: () => void): Observable<undefined> {
    return asks(name, request, () => {
      act();
      return undefined;
    });
  }

  function put(target: string, type: string): void {
    if (disk.typeOf(target) === 'missing') throw systemError('ENOENT', 'no such mount point', target);
    disk.mounts.add(target);
    types.set(target, type);
  }

  return {
    below: (path) =>
      asks('below', { path }, () =>
        [...disk.mounts]
          .filter((target) => target === path || target.startsWith(`${path}/`))
          .map((target) => ({ target, type: types.get(target) ?? 'ext4' })),
      ),
    mount: (request) =>
      does('mount', request, () => {
        put(request.target, request.type);
      }),
    mountMemory: (target, size) =>
      does('mountMemory', { target, size }, () => {
        put(target, 'tmpfs');
      }),
    unmount: (target) =>
      does('unmount', { target }, () => {
        if (!disk.mounts.delete(target)) throw systemError('EINVAL', 'not mounted', target);
        types.delete(target);
      }),
    bindInside: (bind) =>
      does('bindInside', bind, () => {
        const { volume, subPath, target } = bind;
        const source = `${volume}/${subPath}`;
        if (disk.typeOf(source) === 'missing') disk.makeDir(source, 0o777);
        const type = disk.typeOf(source);
        if (type === 'missing') throw new SubPathError('bind', `no such file or directory: ${source}`);
        if (disk.mounts.has(target)) return;
        disk.put(target, type === 'directory' ? { type, mode: 0o750 } : { type: 'file', mode: 0o640, content: '' });
        put(target, 'ext4');
      }),
  };
}
