import { CONFIG_SOURCE } from '../../model/config-annotations.ts';
import type { Desired } from '../../model/desired.ts';
import { NO_MEMORY } from '../../model/pod-memory.ts';
import { NO_OBJECTS } from '../../model/objects/object-set.ts';
import type { Pod, PodUid, SourceName } from '../../model/pod.ts';
import { planPod } from '../../runtime/plan-pod.ts';
import { applyDesired, type Ledger } from '../../sources/apply-desired.ts';
import { holdBack, initialHold } from '../../sources/hold-back.ts';
import type { Entry, PodBook } from '../../streams/book/pod-book.ts';
import { bookOf, type PlanGround } from '../../streams/view/plan-ground.ts';
import { changedFields } from './changed-fields.ts';
import { settle } from './settle.ts';

export type Fate = 'start' | 'replace' | 'restart' | 'update' | 'stop' | 'refuse' | 'stopped' | 'stay';

/** What would become of one pod, and why. */
export interface Foreseen {
  readonly pod: string;
  readonly fate: Fate;
  readonly why: string;
}

/**
 * What would happen to each pod, by name, if the file source wanted this. Pure, and made of what the agent itself
 * decides with: the merge of sources, the pods stopped by hand, the book with its admission, and the plan of a pod.
 * `now` is in milliseconds since 1970.
 */
export function foresee(ground: PlanGround, desired: Desired, now: number): readonly Foreseen[] {
  const before = bookOf(ground);
  const ledger = applyDesired(ledgerOf(ground), desired, now);
  const wanted = [...ledgerOf(ground).wanted.values()].flatMap(({ source, pods }) =>
    pods.map((pod) => ({ op: 'add', source, pod }) as const),
  );
  const stopped = ground.stopped.map(({ metadata: { uid, name, namespace } }) => ({ uid, name, namespace }));
  const { hold, changes } = holdBack(holdBack(initialHold({ version: 1, stopped }), wanted).hold, ledger.changes);
  const { book: after, ended } = settle(before, changes, now);

  const [then, later] = [living(before), living(after)];
  const held = [...hold.wanted.values()].filter(({ pod }) => hold.stopped.has(pod.metadata.uid));
  const names = new Set([...then.keys(), ...later.keys()]);
  return [
    ...[...names].map((name) => fateOf(name, then.get(name), later.get(name), ended, now)),
    ...held.map(({ pod }): Foreseen => ({ pod: nameOf(pod), fate: 'stopped', why: 'stopped by hand' })),
  ].toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
}

function ledgerOf({ entries, stopped }: PlanGround): Ledger {
  const accepted = new Map<SourceName, ReadonlyMap<PodUid, Pod>>();
  for (const pod of [...entries.flatMap((entry) => wantedIn(entry) ?? []), ...stopped]) {
    const source = (pod.metadata.annotations[CONFIG_SOURCE] ?? 'file') as SourceName;
    accepted.set(source, new Map(accepted.get(source)).set(pod.metadata.uid, pod));
  }
  const wanted = [...accepted].map(([source, pods]): readonly [SourceName, Desired] => [
    source,
    { source, pods: [...pods.values()], problems: [] },
  ]);
  return { wanted: new Map(wanted), accepted, objects: NO_OBJECTS, problems: new Map(), changes: [] };
}

function wantedIn(entry: Entry): Pod | undefined {
  if (entry.phase === 'terminating' || entry.phase === 'ended') return entry.again;
  return entry.phase === 'syncing' && entry.successor !== undefined ? undefined : entry.pod;
}

/** The pod of each name that is wanted, or else the one that is there. */
function living({ entries }: PodBook): ReadonlyMap<string, Entry> {
  const all = [...entries.values()].filter(({ phase }) => phase !== 'ended');
  const ranked = [...all.filter((entry) => !wantedIn(entry)), ...all.filter((entry) => wantedIn(entry))];
  return new Map(ranked.map((entry) => [`${entry.of.namespace}/${entry.of.name}`, entry]));
}

function fateOf(
  pod: string,
  before: Entry | undefined,
  after: Entry | undefined,
  ended: ReadonlyMap<PodUid, string>,
  now: number,
): Foreseen {
  if (!after) return { pod, fate: 'stop', why: (before && ended.get(before.uid)) ?? 'no source wants it any more' };
  if (after.phase === 'refused') return { pod, fate: 'refuse', why: after.refusal.message };
  if (!before || (before.phase === 'refused' && before.uid === after.uid))
    return { pod, fate: 'start', why: before ? 'the node has room for it now' : 'it is new' };
  if (before.uid !== after.uid) return { pod, fate: 'replace', why: changesOf(before.pod, after.pod) };
  const why = ended.get(before.uid);
  if (why !== undefined && before.phase !== 'terminating') return { pod, fate: 'restart', why };
  return before.pod === after.pod || !after.pod ? { pod, fate: 'stay', why: '' } : updated(pod, before, after.pod, now);
}

/** A pod whose UID its manifest gives is changed in place: its plan tells for which containers that means an end. */
function updated(name: string, { observed, pod: before, status }: Entry, pod: Pod, now: number): Foreseen {
  const why = changesOf(before, pod);
  if (!observed) return { pod: name, fate: 'update', why };
  const { steps } = planPod(pod, observed, NO_MEMORY, now, NO_BACKOFF, { probes: new Map(), status });
  const ends = steps.some((step) => step.do === 'stopContainer' || step.do === 'stopPod');
  return { pod: name, fate: ends ? 'restart' : 'update', why };
}

/** Back-offs are over some time; a plan tells what comes, not when. */
const NO_BACKOFF = { initial: 0, ceiling: 0 };

function changesOf(before: Pod | undefined, after: Pod | undefined): string {
  const fields = changedFields(before, after);
  if (fields.length === 0) return 'it comes from another file';
  const [shown, more] = [fields.slice(0, 3), fields.length - 3];
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} changed`;
}

function nameOf({ metadata: { namespace, name } }: Pod): string {
  return `${namespace}/${name}`;
}
