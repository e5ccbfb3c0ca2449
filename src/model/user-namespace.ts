import type { UserNamespace } from './cri/api.ts';
import { isRecord } from './schema/check-shape.ts';

/** Ids of the node that one pod gets (KEP-127). */
export const IDS_PER_POD = 65_536;

/** The node's ids from which pods get theirs. */
export interface IdRange {
  readonly start: number;
  readonly length: number;
}

/** Where nobody set ids aside: those above the node's own, enough for every pod. */
export function defaultIdRange(maxPods: number): IdRange {
  return { start: IDS_PER_POD, length: IDS_PER_POD * maxPods };
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

/** The lowest run of ids that no other pod has; `undefined` where all are taken. */
export function freeIds({ start, length }: IdRange, taken: ReadonlySet<number>): number | undefined {
  for (let first = start; first + IDS_PER_POD <= start + length; first += IDS_PER_POD)
    if (!taken.has(first)) return first;
  return undefined;
}

/** A namespace in which root and everyone after is `hostId` and those after on the node. */
export function userNamespaceAt(hostId: number): UserNamespace {
  const mappings = [{ hostId, containerId: 0, length: IDS_PER_POD }];
  return { mode: 'POD', uids: mappings, gids: mappings };
}

/** The form of the kubelet's own file, so that each takes over what the other has begun. */
export function printUserNamespace(hostId: number): string {
  const mappings = [{ hostId, containerId: 0, length: IDS_PER_POD }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** The first id of the node in such a file; `undefined` for a text that is none. */
export function parseUserNamespace(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const mappings = isRecord(value) ? value['uidMappings'] : undefined;
    const first: unknown = Array.isArray(mappings) ? mappings[0] : undefined;
    const hostId = isRecord(first) ? first['hostId'] : undefined;
    return typeof hostId === 'number' ? hostId : undefined;
  } catch {
    return undefined;
  }
}
