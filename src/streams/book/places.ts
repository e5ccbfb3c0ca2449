import { addAmounts, amountsOf } from '../../model/admission/amounts.ts';
import { wantsHostPort } from '../../model/admission/host-ports.ts';
import { draftOf, type MapDraft } from '../../model/layered-map.ts';
import type { FullName, Pod, PodUid } from '../../model/pod.ts';
import type { Entry, Places, PodPhase } from './pod-book.ts';

/** The account while one event is being applied. */
export interface PlacesDraft {
  readonly names: () => Places['names'];
  readonly pending: () => Places['pending'];
  readonly ported: () => Places['ported'];
  readonly used: () => Places['used'];
  /** Writes down what becomes of an entry: absent before it has come, and when it has gone. */
  readonly note: (uid: PodUid, before: Entry | undefined, after: Entry | undefined) => void;
  /** What it is like now, for good; the same as before when nothing has changed. */
  readonly finish: () => Places;
}

const NOWHERE: Places = { names: new Map(), pending: new Map(), used: {}, ported: new Map() };

/** The account of entries of which none was kept. */
export function placesOf(entries: ReadonlyMap<PodUid, Entry>): Places {
  const draft = draftPlaces(NOWHERE);
  for (const [uid, entry] of entries) draft.note(uid, undefined, entry);
  return draft.finish();
}

export function draftPlaces(places: Places): PlacesDraft {
  const names = lazily(places.names);
  const pending = lazily(places.pending);
  const ported = lazily(places.ported);
  let { used } = places;

  function rename(name: FullName, change: (uids: readonly PodUid[]) => readonly PodUid[]): void {
    const uids = change(names.now().get(name) ?? []);
    if (uids.length === 0) names.draft().delete(name);
    else names.draft().set(name, uids);
  }

  function take(uid: PodUid, then: Pod | undefined, now: Pod | undefined): void {
    if (then === now) return;
    if (then && used) used = addAmounts(used, amountsOf(then), -1);
    if (now && used) used = addAmounts(used, amountsOf(now), 1);
    if (now && wantsHostPort(now)) ported.draft().set(uid, now);
    else if (then && wantsHostPort(then)) ported.draft().delete(uid);
  }

  return {
    names: names.now,
    pending: pending.now,
    ported: ported.now,
    used: () => used,
    note: (uid, before, after) => {
      if (before && !after) rename(before.name, (uids) => uids.filter((other) => other !== uid));
      if (after && !before) rename(after.name, (uids) => [...uids, uid]);
      if (isPending(after) && !isPending(before)) pending.draft().set(uid, true);
      else if (isPending(before) && !isPending(after)) pending.draft().delete(uid);
      take(uid, placedOf(before), placedOf(after));
    },
    finish: () => {
      const next = { names: names.finish(), pending: pending.finish(), ported: ported.finish() };
      const isSame =
        next.names === places.names &&
        next.pending === places.pending &&
        next.ported === places.ported &&
        used === places.used;
      return isSame ? places : { ...next, used };
    },
  };
}

/** Most events change nothing of a map: then no draft of it is made. */
function lazily<K, V>(
  before: ReadonlyMap<K, V>,
): { now: () => ReadonlyMap<K, V>; draft: () => MapDraft<K, V>; finish: () => ReadonlyMap<K, V> } {
  let draft: MapDraft<K, V> | undefined;
  return {
    now: () => draft ?? before,
    draft: () => (draft ??= draftOf(before)),
    finish: () => draft?.finish() ?? before,
  };
}

/** Whether it has yet to be judged, again or for the first time. */
export function isPending(entry: Entry | undefined): boolean {
  return entry?.phase === 'waiting' || entry?.phase === 'refused';
}

/** The pod of an entry that takes room on the node. */
export function placedOf(entry: Entry | undefined): Pod | undefined {
  return entry && TAKES_ROOM[entry.phase] ? entry.pod : undefined;
}

/** Whether nobody else may begin under the full name of the entry. */
export function holdsName({ phase }: Entry): boolean {
  return HOLDS_NAME[phase];
}

const TAKES_ROOM: Readonly<Record<PodPhase, boolean>> = {
  preparing: false,
  waiting: false,
  refused: false,
  syncing: true,
  finished: false,
  terminating: true,
  ended: false,
};

const HOLDS_NAME: Readonly<Record<PodPhase, boolean>> = {
  preparing: false,
  waiting: false,
  refused: false,
  syncing: true,
  finished: true,
  terminating: true,
  ended: false,
};
