import { defer, of, Subject, type Observable } from 'rxjs';
import type { FileMemory, FileMemoryStore } from '../../src/sources/file/file-memory.ts';
import type { ManifestPorts } from '../../src/sources/file/manifest-stream.ts';
import type { FileReading } from '../../src/sources/file/look-at-file.ts';
import type { ManifestScan } from '../../src/sources/file/scan-manifests.ts';
import { MANIFESTS } from './recorded-node.ts';

/** The folder of manifests as something that changes in virtual time. */
export interface ManifestFolder {
  readonly ports: ManifestPorts;
  readonly put: (name: string, bytes: Uint8Array) => void;
  readonly remove: (name: string) => void;
  readonly clear: () => void;
  /** Does what the shell commands of the recording do to the folder; `false` where it is something else that they do. */
  readonly shell: (script: string) => boolean;
}

export function manifestFolder(first: ReadonlyMap<string, Uint8Array>): ManifestFolder {
  const files = new Map([...first].map(([name, bytes]) => [name, readingOf(name, bytes)]));
  const changes = new Subject<undefined>();
  let isAway = false;
  let memory: FileMemory | undefined;
  const store: FileMemoryStore = {
    load: () => defer(() => of(memory)),
    save: (kept) =>
      defer(() => {
        memory = kept;
        return of(undefined);
      }),
  };

  function scan(): ManifestScan {
    if (isAway) return { kind: 'read', files: [], missing: 'there is no such file or directory', unsettled: false };
    const seen = [...files].filter(([name]) => MANIFEST_NAME.test(name)).map(([, reading]) => reading);
    return { kind: 'read', files: seen.toSorted((a, b) => (a.path < b.path ? -1 : 1)), unsettled: false };
  }

  function put(name: string, bytes: Uint8Array): void {
    files.set(name, readingOf(name, bytes));
    changes.next(undefined);
  }

  function remove(name: string): void {
    files.delete(name);
    changes.next(undefined);
  }

  function shell(script: string): boolean {
    const [command = '', from = '', to = ''] = script.split(';')[0]?.split(' ') ?? [];
    const [source, target] = [nameIn(from), nameIn(to)];
    const append = /^echo "([^"]*)" >> <MANIFESTS>\/(\S+)$/.exec(script);
    if (append) {
      const [, text = '', name = ''] = append;
      put(name, Buffer.concat([bytesOf(files.get(name)), Buffer.from(`${text}\n`)]));
    } else if (command === 'mv' && source === '' && to !== '') {
      isAway = to.endsWith('.away');
      changes.next(undefined);
    } else if (command === 'mv' && source !== undefined && target !== undefined) {
      const bytes = bytesOf(files.get(source));
      files.delete(source);
      put(target, bytes);
    } else if (script.startsWith('rm -f <MANIFESTS>/')) remove(nameIn(to) ?? '');
    else if (command === 'touch' || command === 'mkfifo') changes.next(undefined);
    else return false;
    return true;
  }

  return {
    ports: { watch: (): Observable<unknown> => changes, scan: () => defer(() => of(scan())), store },
    put,
    remove,
    clear: () => {
      files.clear();
      changes.next(undefined);
    },
    shell,
  };
}

/** The name of a file in the folder; empty for the folder itself, `undefined` for what is elsewhere. */
function nameIn(path: string): string | undefined {
  return /^<MANIFESTS>(?:\.away)?\/?(.*)$/.exec(path)?.[1];
}

/** Which files count (src/sources/file/scan-manifests.ts). */
const MANIFEST_NAME = /^[^./][^/]*\.(?:yaml|yml|json)$/;

function readingOf(name: string, bytes: Uint8Array): FileReading {
  return { path: `${MANIFESTS}/${name}`, inode: 1n, content: decode(bytes) };
}

function decode(bytes: Uint8Array): FileReading['content'] {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { unreadable: 'is no UTF-8 text' };
  }
}

function bytesOf(reading: FileReading | undefined): Buffer {
  return Buffer.from(reading && 'text' in reading.content ? reading.content.text : '');
}
