import { graceOf } from '../../model/grace.ts';
import { draftOf, type MapDraft } from '../../model/layered-map.ts';
import { fullNameOf, type Pod, type PodUid } from '../../model/pod.ts';
import { isRefusedStatus } from '../../model/status/refused-status.ts';
import type { PodWork } from '../workers/pod-work.ts';
import type { PlacesDraft } from './places.ts';
import type { BookFacts, BookNote, Entry, PodBook, PodPhase, Syncing, Waiting } from './pod-book.ts';

/** The book while one event is being applied. */
export interface Draft {
  readonly entries: MapDraft<PodUid, Entry>;
  readonly work: PodWork[];
  readonly notes: BookNote[];
  up: PodBook['up'];
  readonly places: PlacesDraft;
  isMoving?: boolean;
  strangers: PodBook['strangers'];
  listed: PodBook['listed'];
  runtimeSeen: boolean;
  allSeen: boolean;
  draining: boolean;
  facts: BookFacts;
}

/** Writes an entry down, with nothing to do about it. */
export function note(draft: Draft, entry: Entry): void {
  draft.places.note(entry.uid, draft.entries.get(entry.uid), entry);
  draft.entries.set(entry.uid, entry);
}

/** Writes an entry down and hands out the work that its phase asks for. */
export function put(draft: Draft, entry: Entry): void {
  note(draft, entry);
  dispatch(draft, entry);
}

/** The first work on a pod: one of which the runtime held nothing when it was listed need not be looked for. */
export function begin(draft: Draft, entry: Syncing): void {
  const { uid, of } = entry;
  const { revision, pods } = draft.listed;
  note(draft, entry);
  if (entry.observed || pods.has(uid)) dispatch(draft, entry);
  else dispatch(draft, { ...entry, observed: { ...of, revision, sandboxes: [], containers: [] } });
}

/** Hands out the work that an entry's phase asks for. */
export function dispatch(
  draft: Draft,
  entry: Entry,
  { fresh: looksAgain = false }: { readonly fresh?: boolean } = {},
): void {
  const { uid, of, why } = entry;
  switch (entry.phase) {
    case 'preparing':
      draft.work.push({ kind: 'prepare', uid, pod: entry.pod, why });
      return;
    case 'syncing': {
      const { pod, observed, probes, status } = entry;
      const known = { ...(observed && !looksAgain ? { observed } : {}), ...(status ? { status } : {}) };
      if (pod) draft.work.push({ kind: 'sync', uid, pod, probes, why, ...known });
      return;
    }
    case 'terminating': {
      const { pod, grace } = entry;
      draft.work.push({ kind: 'terminate', uid, of, grace, why, ...(pod ? { pod } : {}) });
      return;
    }
    case 'ended':
      draft.work.push({ kind: 'cleanUp', uid, of });
      return;
    case 'waiting':
    case 'refused':
    case 'finished':
      return;
  }
}

/** The kind of work that there is in a phase, if any. */
export const WORK_OF: Readonly<Record<PodPhase, PodWork['kind'] | undefined>> = {
  preparing: 'prepare',
  waiting: undefined,
  refused: undefined,
  syncing: 'sync',
  finished: undefined,
  terminating: 'terminate',
  ended: 'cleanUp',
};

/** Whose place a pod is to take, as long as that one runs on for it. */
export function holderOf({ entries, places }: Draft, { uid, name }: Pick<Entry, 'uid' | 'name'>): Entry | undefined {
  for (const other of places.names().get(name) ?? []) {
    const entry = entries.get(other);
    if (successorOf(entry) === uid) return entry;
  }
  return undefined;
}

export function successorOf(entry: Entry | undefined): PodUid | undefined {
  return entry && 'successor' in entry ? entry.successor : undefined;
}

/** The first page of a pod that is wanted. */
export function fresh(pod: Pod, { facts }: Draft): Waiting {
  const { uid, name, namespace } = pod.metadata;
  const status = facts.statuses.get(uid);
  const eviction = facts.eviction?.kept.get(uid);
  return {
    uid,
    of: { uid, name, namespace },
    name: fullNameOf(pod),
    phase: 'waiting',
    pod,
    grace: graceOf(pod),
    why: '',
    ...(status && !isRefusedStatus(status) ? { status } : {}),
    ...(eviction ? { eviction } : {}),
  };
}

/** Nothing of it has begun, or nothing of it is left. */
export function forget(draft: Draft, uid: PodUid): void {
  draft.places.note(uid, draft.entries.get(uid), undefined);
  draft.entries.delete(uid);
  const { statuses, eviction } = draft.facts;
  // Should it come back, it begins anew: what an earlier run of the agent knew of it was of the life that is over.
  if (statuses.has(uid)) draft.facts = { ...draft.facts, statuses: without(statuses, uid) };
  if (eviction?.kept.has(uid) === true) {
    draft.facts = { ...draft.facts, eviction: { ...eviction, kept: without(eviction.kept, uid) } };
  }
}

export function without<V>(map: ReadonlyMap<PodUid, V>, uid: PodUid): ReadonlyMap<PodUid, V> {
  const rest = draftOf(map);
  rest.delete(uid);
  return rest.finish();
}
