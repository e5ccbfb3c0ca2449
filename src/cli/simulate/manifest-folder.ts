import { of, Subject } from 'rxjs';
import type { FileReading } from '../../sources/file/look-at-file.ts';
import type { ManifestPorts } from '../../sources/file/manifest-stream.ts';

/** The folder of manifests of a simulated node. */
export interface ManifestFolder {
  readonly ports: Pick<ManifestPorts, 'watch' | 'scan'>;
  /** Finds a file by its path, or by its name alone. */
  readonly find: (name: string) => FileReading | undefined;
  readonly put: (path: string, text: string) => void;
  readonly remove: (path: string) => void;
}

/** A folder in memory, in which files change as soon as somebody changes them. */
export function manifestFolder(initial: readonly FileReading[]): ManifestFolder {
  let files: ReadonlyMap<string, FileReading> = new Map(initial.map((file) => [file.path, file]));
  const changes = new Subject<undefined>();

  function hold(next: ReadonlyMap<string, FileReading>): void {
    files = next;
    changes.next(undefined);
  }

  return {
    ports: {
      watch: () => changes,
      scan: () => {
        const sorted = [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
        return of({ kind: 'read' as const, files: sorted, unsettled: false });
      },
    },
    find: (name) => files.get(name) ?? [...files.values()].find(({ path }) => path.endsWith(`/${name}`)),
    put: (path, text) => {
      hold(new Map([...files, [path, { path, inode: 0n, content: { text } }]]));
    },
    remove: (path) => {
      hold(new Map([...files].filter(([other]) => other !== path)));
    },
  };
}
