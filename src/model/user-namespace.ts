import type { UserNamespace } from './cri/api.ts';
import { isRecord } from './schema/check-shape.ts';

/** The smallest amount of ids that a pod can get, and what it gets where nothing else is configured (KEP-127). */
export const LEAST_IDS = 65_536;

/** A run of the node's ids. */
export interface IdRange {
  readonly start: number;
  readonly length: number;
}

/** Where nobody set ids aside: those above the node's own, enough for every pod. */
export function defaultIdRange(maxPods: number, idsPerPod: number): IdRange {
  return { start: LEAST_IDS, length: idsPerPod * maxPods };
}

/** The ids that /etc/subuid or /etc/subgid sets aside for a user; `undefined` where it names the user not exactly once. */
export function subIdRange(text: string, user: string): IdRange | undefined {
  const [range, ...more] = text
    .split('\n')
    .map((line) => line.trim().split(':'))
    .filter(([name]) => name === user)
    .map(([, start, length]) => ({ start: Number(start), length: Number(length) }));
  return range && more.length === 0 && Number.isInteger(range.start) && Number.isInteger(range.length)
    ? range
    : undefined;
}

/** The lowest run of `count` ids of which no other pod has any; `undefined` where there is none. */
export function freeIds({ start, length }: IdRange, taken: readonly IdRange[], count: number): IdRange | undefined {
  for (let first = start; first + count <= start + length; first += count)
    if (!taken.some((ids) => first < ids.start + ids.length && ids.start < first + count))
      return { start: first, length: count };
  return undefined;
}

/** A namespace in which root and everyone after is the first of these ids and those after on the node. */
export function userNamespaceAt({ start, length }: IdRange): UserNamespace {
  const mappings = [{ hostId: start, containerId: 0, length }];
  return { mode: 'POD', uids: mappings, gids: mappings };
}

/** The form of the kubelet's own file, so that each takes over what the other has begun. */
export function printUserNamespace({ start, length }: IdRange): string {
  const mappings = [{ hostId: start, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** The ids of the node in such a file; `undefined` for a text that is none. */
export function parseUserNamespace(text: string): IdRange | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const mappings = isRecord(value) ? value['uidMappings'] : undefined;
    const first: unknown = Array.isArray(mappings) ? mappings[0] : undefined;
    if (!isRecord(first)) return undefined;
    const { hostId, length } = first;
    return typeof hostId === 'number' && typeof length === 'number' ? { start: hostId, length } : undefined;
  } catch {
    return undefined;
  }
}
