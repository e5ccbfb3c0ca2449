import { isRecord } from '../../model/schema/check-shape.ts';
import type { Observable } from 'rxjs';
import type { LocalObject } from '../../model/objects/local-object.ts';
import type { Pod } from '../../model/pod.ts';

/**
 * What the file source must remember over a restart of the agent, as plain JSON data: a file that is broken at start
 * still runs what it last said, and of two files with one pod name the one that had it keeps it.
 */
export interface FileMemory {
  readonly version: 1;
  /** The last good pods of every file, by path. */
  readonly files: Readonly<Record<string, readonly Pod[]>>;
  /** Which file runs which pod, by `name_namespace`. */
  readonly owners: Readonly<Record<string, PodOwner>>;
  /** The last good other objects of every file, by path; what is saved holds no Secret ({@link withoutSecrets}). */
  readonly objects?: Readonly<Record<string, readonly LocalObject[]>>;
  /** Which file each of them comes from, by its key. */
  readonly objectOwners?: Readonly<Record<string, string>>;
}

export interface PodOwner {
  readonly path: string;
  readonly uid: string;
}

/** Where the memory is kept. Cold Observables: `load` emits one value, `undefined` where nothing is kept; both may error. */
export interface FileMemoryStore {
  readonly load: () => Observable<FileMemory | undefined>;
  readonly save: (memory: FileMemory) => Observable<undefined>;
}

export const EMPTY_MEMORY: FileMemory = { version: 1, files: {}, owners: {} };

/** What of the memory may stand on a disk: a Secret that is broken at the next start is missing until it is mended. */
export function withoutSecrets(memory: FileMemory): FileMemory {
  if (!memory.objects) return memory;
  const objects = Object.entries(memory.objects).map(
    ([path, list]) => [path, list.filter(({ kind }) => kind !== 'Secret')] as const,
  );
  return { ...memory, objects: Object.fromEntries(objects.filter(([, list]) => list.length > 0)) };
}

/** Whether something read back is a memory that this version understands. */
export function isFileMemory(value: unknown): value is FileMemory {
  if (!isRecord(value) || value['version'] !== 1 || !isRecord(value['files']) || !isRecord(value['owners']))
    return false;
  return (
    Object.values(value['files']).every((pods) => Array.isArray(pods) && pods.every(isPodLike)) &&
    Object.values(value['owners']).every(
      (owner) => isRecord(owner) && typeof owner['path'] === 'string' && typeof owner['uid'] === 'string',
    ) &&
    areObjects(value['objects'] ?? {}) &&
    isRecord(value['objectOwners'] ?? {})
  );
}

function areObjects(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.values(value).every(
      (list) =>
        Array.isArray(list) &&
        list.every((item) => isRecord(item) && typeof item['kind'] === 'string' && isRecord(item['metadata'])),
    )
  );
}

function isPodLike(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['metadata']) || !isRecord(value['spec'])) return false;
  const { name, namespace, uid } = value['metadata'];
  return (
    [name, namespace, uid].every((text) => typeof text === 'string' && text !== '') &&
    Array.isArray(value['spec']['containers'])
  );
}
