import { allContainers } from '../containers.ts';
import { fieldValue } from '../env/field-value.ts';
import { resourceValue, type ResourceValue } from '../env/resource-value.ts';
import type { ObjectSet } from '../objects/object-set.ts';
import type { Pod } from '../pod.ts';
import type { ResourceList } from '../pod-resources.ts';
import { goQuote } from './go-quote.ts';
import { objectFiles, type VolumeFile, type VolumePayload } from './object-files.ts';
import type { Volume } from './volume-dir.ts';

type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

const FILE_MODE = 0o644;

/**
 * The files of a volume that is made of files of ours: what the pod is told about itself, and config maps and secrets.
 * Of two sources that bring one path the later one wins.
 */
export function volumePayload(
  pod: Pod,
  { downwardAPI, configMap, secret, projected }: Volume,
  allocatable: ResourceList,
  objects: ObjectSet,
): VolumePayload {
  const { namespace } = pod.metadata;
  const mode = (downwardAPI ?? configMap ?? secret ?? projected)?.defaultMode ?? FILE_MODE;
  const sources: readonly Source[] = projected
    ? (projected.sources ?? [])
    : [
        {
          ...(downwardAPI && { downwardAPI }),
          ...(configMap && { configMap }),
          ...(secret && { secret: named(secret) }),
        },
      ];
  const files = new Map<string, VolumeFile>();
  for (const source of sources) {
    const payload = filesOf(source);
    if (payload.kind === 'problem') return payload;
    for (const [path, file] of payload.files) files.set(normal(path), file);
  }
  return { kind: 'files', files };

  function filesOf(source: Source): VolumePayload {
    if (source.downwardAPI) return downwardFiles(pod, source.downwardAPI.items ?? [], mode, allocatable);
    const ref = source.configMap ?? source.secret;
    if (!ref) return { kind: 'files', files: new Map() };
    const { name = '', items = [], optional = false } = ref;
    const kind = source.configMap ? 'ConfigMap' : 'Secret';
    return objectFiles({ kind, name, items, optional }, namespace, mode, objects);
  }
}

type Source = Pick<
  NonNullable<NonNullable<Volume['projected']>['sources']>[number],
  'downwardAPI' | 'configMap' | 'secret'
>;

/** A volume of a Secret calls its name otherwise than a projection of it does. */
function named({ secretName = '', ...rest }: NonNullable<Volume['secret']>): NonNullable<Source['secret']> {
  return { ...rest, name: secretName };
}

function downwardFiles(
  pod: Pod,
  items: readonly DownwardItem[],
  ofVolume: number,
  allocatable: ResourceList,
): VolumePayload {
  const files = new Map<string, VolumeFile>();
  for (const { path, mode = ofVolume, ...item } of items) {
    const value = valueOf(pod, item, allocatable);
    if (value.kind === 'problem') return value;
    files.set(path, { content: value.text, mode });
  }
  return { kind: 'files', files };
}

/** The same file by one name: `a//b` is `a/b`. */
function normal(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}

function valueOf(
  pod: Pod,
  { fieldRef, resourceFieldRef }: Omit<DownwardItem, 'path' | 'mode'>,
  allocatable: ResourceList,
): ResourceValue {
  if (fieldRef) return { kind: 'value', text: fieldText(pod, fieldRef.fieldPath) };
  const container = allContainers(pod.spec).find(({ name }) => name === resourceFieldRef?.containerName);
  if (!container || !resourceFieldRef)
    return { kind: 'problem', message: `cannot find container "${resourceFieldRef?.containerName ?? ''}" in pod` };
  return resourceValue(pod.spec, container, resourceFieldRef, allocatable);
}

/** Addresses are no matter of volumes: they come before the pod has one. */
const NO_ADDRESSES = { podIps: [], hostIps: [] };

function fieldText(pod: Pod, path: string): string {
  if (path === 'metadata.labels') return mapText(pod.metadata.labels);
  if (path === 'metadata.annotations') return mapText(pod.metadata.annotations);
  return fieldValue(pod, path, NO_ADDRESSES);
}

/** One `key="value"` per line, in the order of the keys' bytes. */
function mapText(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key] ?? '')}`)
    .join('\n');
}
