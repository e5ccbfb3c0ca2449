import type { MemoryDisk } from './memory-disk.ts';

/** Where the runtime and processes leave what they write. Never throws: who cannot write goes without. */
export interface HostFiles {
  /** Makes the file where there is none. */
  readonly append: (path: string, text: string) => void;
  /** In place, in a file that is there or not. */
  readonly overwrite: (path: string, text: string) => void;
}

const MODE = 0o640;

/** On the disk of a node that is all in memory, however full that is. */
export function hostFilesIn(disk: MemoryDisk): HostFiles {
  const read = (path: string): string => (disk.typeOf(path) === 'file' ? (disk.readFile(path) ?? '') : '');
  return {
    append: (path, text) => {
      disk.put(path, { type: 'file', mode: MODE, content: read(path) + text });
    },
    overwrite: (path, content) => {
      disk.put(path, { type: 'file', mode: 0o666, content });
    },
  };
}
