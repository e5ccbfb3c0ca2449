import type { Pod } from '../../model/pod.ts';
import type { BookFacts, Entry, PodBook } from '../book/pod-book.ts';

/** What a plan is made on: the book of a node and where its manifests lie, as plain JSON. */
export interface PlanGround {
  readonly nodeName: string;
  /** Folder or file of the manifests; empty where there is none. */
  readonly manifests: string;
  readonly rootDir: string;
  /** Without what is known of single containers only: maps are no JSON. */
  readonly entries: readonly Entry[];
  readonly facts: Omit<BookFacts, 'statuses'>;
  /** Wanted, and stopped by hand. */
  readonly stopped: readonly Pod[];
}

export function planGround(
  { entries, facts }: PodBook,
  rest: Pick<PlanGround, 'nodeName' | 'manifests' | 'rootDir' | 'stopped'>,
): PlanGround {
  const { runtimeName, hostIps, update, node } = facts;
  return {
    ...rest,
    facts: { runtimeName, hostIps, update, ...(node ? { node } : {}) },
    entries: [...entries.values()],
  };
}

/** The book again, as of a node that has been listed and whose sources have all been heard. */
export function bookOf({ entries, facts }: PlanGround): PodBook {
  return {
    entries: new Map(
      entries.map((entry) => [
        entry.uid,
        'probes' in entry ? { ...entry, waiting: new Map(), probes: new Map() } : entry,
      ]),
    ),
    runtimeSeen: true,
    listed: { revision: -1, pods: new Map() },
    allSeen: true,
    up: new Map(entries.filter(({ phase }) => phase === 'syncing').map(({ uid }) => [uid, true])),
    strangers: new Map(),
    draining: false,
    facts: { ...facts, statuses: new Map() },
  };
}
