import { allContainers } from '../containers.ts';
import { fieldValue } from '../env/field-value.ts';
import { resourceValue, type ResourceValue } from '../env/resource-value.ts';
import type { Pod } from '../pod.ts';
import type { ResourceList } from '../pod-resources.ts';
import { goQuote } from './go-quote.ts';
import type { Volume } from './volume-dir.ts';

interface DownwardFile {
  readonly content: string;
  /** Permission bits. */
  readonly mode: number;
}

type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

/** The files of a volume by their path in it, or why one of them cannot be written. */
export type DownwardPayload =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, DownwardFile> }
  | { readonly kind: 'problem'; readonly message: string };

const FILE_MODE = 0o644;

/**
 * What a downwardAPI or projected volume tells its pod about itself. Of two sources that bring one path the later one
 * wins. Anything but the downward API among the sources of a projected volume brings nothing.
 */
export function downwardPayload(
  pod: Pod,
  { downwardAPI, projected }: Volume,
  allocatable: ResourceList,
): DownwardPayload {
  const sources = downwardAPI ? [downwardAPI] : (projected?.sources ?? []).map((source) => source.downwardAPI);
  const ofVolume = downwardAPI?.defaultMode ?? projected?.defaultMode ?? FILE_MODE;
  const files = new Map<string, DownwardFile>();
  for (const { path, mode = ofVolume, ...item } of sources.flatMap((source) => source?.items ?? [])) {
    const value = valueOf(pod, item, allocatable);
    if (value.kind === 'problem') return value;
    files.set(normal(path), { content: value.text, mode });
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
