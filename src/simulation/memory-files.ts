import type { Observable } from 'rxjs';
import type { Files } from '../streams/ports/files.ts';
import type { Calls } from './calls.ts';
import type { MemoryDisk } from './memory-disk.ts';

/** The files port on a disk in memory; calls are logged, delayed and made to fail as those of the runtime are. */
export function memoryFiles(disk: MemoryDisk, calls: Calls): Files {
  function asks<T>(name: string, request: unknown, act: () => T): Observable<T> {
    return calls.call({ name: `files.${name}`, request, act });
  }

  function does(name: string, request: unknown, act: () => void): Observable<undefined> {
    return asks(name, request, () => {
      act();
      return undefined;
    });
  }

  return {
    makeDir: (path, mode) =>
      does('makeDir', { path, mode }, () => {
        disk.makeDir(path, mode);
      }),
    writeFile: (path, content, { mode, inPlace = false }) =>
      does('writeFile', { path, content, mode, inPlace }, () => {
        disk.writeFile(path, content, mode, inPlace);
      }),
    readFile: (path, options) => asks('readFile', { path, ...options }, () => disk.readFile(path, options?.tailBytes)),
    list: (path) => asks('list', { path }, () => disk.list(path)),
    typeOf: (path) => asks('typeOf', { path }, () => disk.typeOf(path)),
    link: (target, path) =>
      does('link', { target, path }, () => {
        disk.link(target, path);
      }),
    readLink: (path) => asks('readLink', { path }, () => disk.readLink(path)),
    removeFile: (path) =>
      does('removeFile', { path }, () => {
        disk.removeFile(path);
      }),
    removeTree: (path) =>
      does('removeTree', { path }, () => {
        disk.removeTree(path);
      }),
    removeCgroup: (cgroupPath) =>
      does('removeCgroup', { cgroupPath }, () => {
        disk.removeTree(`/sys/fs/cgroup${cgroupPath}`);
      }),
  };
}
