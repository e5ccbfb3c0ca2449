import { configMapOf, secretOf, type ObjectSet } from '../objects/object-set.ts';
import type { Volume } from './volume-dir.ts';

export interface VolumeFile {
  readonly content: string | Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** The files of a volume by their path in it, or why one of them cannot be written. */
export type VolumePayload =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, VolumeFile> }
  | { readonly kind: 'problem'; readonly message: string };

type Items = NonNullable<NonNullable<Volume['configMap']>['items']>;

/** What a ConfigMap or Secret brings into a volume. */
interface ObjectSource {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly items: Items;
  readonly optional: boolean;
}

/** One file per key, or those of `items` only, under their paths. Words of problems are the kubelet's. */
export function objectFiles(
  { kind, name, items, optional }: ObjectSource,
  namespace: string,
  mode: number,
  objects: ObjectSet,
): VolumePayload {
  const contents =
    kind === 'ConfigMap' ? configContents(objects, namespace, name) : secretContents(objects, namespace, name);
  if (!contents && !optional) return { kind: 'problem', message: `${kind.toLowerCase()} "${name}" not found` };
  const files = new Map<string, VolumeFile>();
  if (items.length === 0) for (const [key, content] of contents ?? []) files.set(key, { content, mode });
  for (const item of items) {
    const content = contents?.get(item.key);
    if (content !== undefined) files.set(item.path, { content, mode: item.mode ?? mode });
    else if (!optional) {
      const what =
        kind === 'ConfigMap' ? 'configmap references non-existent config key' : 'references non-existent secret key';
      return { kind: 'problem', message: `${what}: ${item.key}` };
    }
  }
  return { kind: 'files', files };
}

type Contents = ReadonlyMap<string, string | Uint8Array>;

function configContents(objects: ObjectSet, namespace: string, name: string): Contents | undefined {
  const config = configMapOf(objects, namespace, name);
  return (
    config && new Map<string, string | Uint8Array>([...Object.entries(config.data), ...decoded(config.binaryData)])
  );
}

function secretContents(objects: ObjectSet, namespace: string, name: string): Contents | undefined {
  const secret = secretOf(objects, namespace, name);
  return secret && new Map(decoded(secret.data));
}

function decoded(data: Readonly<Record<string, string>>): readonly (readonly [string, Uint8Array])[] {
  return Object.entries(data).map(([key, encoded]) => [key, Buffer.from(encoded, 'base64')]);
}
