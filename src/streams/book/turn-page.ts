import { isShallowEqual } from '../../model/deep-equal.ts';
import { assertNever } from '../../model/errors.ts';
import { draftOf } from '../../model/layered-map.ts';
import type { ObjectKey } from '../../model/objects/local-object.ts';
import { referencesOf } from '../../model/objects/references.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import { admit, takeBack } from './admit.ts';
import { applyOutcome } from './apply-outcome.ts';
import { dispatch, note, WORK_OF, type Draft } from './draft.ts';
import { toGone, toStarting } from './edges.ts';
import { evict } from './evict.ts';
import type { BookEvent, Entry, Page, PodBook } from './pod-book.ts';
import { draftPlaces, placesOf } from './places.ts';
import { meetStrangers, seeRuntime } from './strangers.ts';
import { tellStatuses } from './tell-statuses.ts';
import { applyChanges, end } from './want.ts';

/**
 * Decides what one event means for the pods of the node. Pure.
 *
 * The rules that it keeps: never two pods of one full name at the same time; the newest wish for a name is the one
 * that starts, the moment the former pod has ended; nothing starts before it is known what runs; nobody's pod is
 * ended before every source was heard, unless a wanted one needs its name; a pod that runs is not ended for its
 * successor before all is at hand for that one; what has begun is never refused, and what was refused is judged again
 * whenever somebody has left. An event that changes nothing leaves the very same book. `now` is milliseconds since 1970.
 */
export function turnPage({ book }: Page, event: BookEvent, now: number): Page {
  const places = draftPlaces(book.places ?? placesOf(book.entries));
  const draft: Draft = { ...book, entries: draftOf(book.entries), places, work: [], notes: [] };
  apply(draft, event, now);
  admit(draft, book);
  tellStatuses(draft, book, now);
  const { work, notes, entries, ...after } = draft;
  const next: PodBook = { ...after, entries: entries.finish(), places: places.finish() };
  return { book: isShallowEqual(book, next) ? book : next, work, notes };
}

function apply(draft: Draft, event: BookEvent, now: number): void {
  switch (event.kind) {
    case 'changes':
      applyChanges(draft, event.changes);
      meetStrangers(draft);
      return;
    case 'objects':
      for (const entry of [...draft.entries.values()])
        if (isServedBy(entry, event.keys)) wake(draft, entry.uid, 'an object that it refers to has changed');
      return;
    case 'allSeen':
      draft.allSeen = true;
      return;
    case 'snapshot':
      seeRuntime(draft, event.snapshot);
      meetStrangers(draft);
      return;
    case 'sighting':
      see(draft, event.pod);
      return;
    case 'probe':
      applyProbe(draft, event);
      return;
    case 'starting': {
      const entry = draft.entries.get(event.uid);
      if (entry?.phase === 'syncing') note(draft, toStarting(entry, event.container));
      return;
    }
    case 'outcome':
      applyOutcome(draft, event.outcome);
      return;
    case 'wake':
      wake(draft, event.uid);
      return;
    case 'runtimeReady':
      for (const entry of [...draft.entries.values()]) if ('error' in entry) wake(draft, entry.uid);
      return;
    case 'evict':
      evict(draft, event.uid, event.message, now);
      return;
    case 'return':
      takeBack(draft, event.uid);
      return;
    case 'drain':
      drain(draft);
      return;
    default:
      assertNever(event);
  }
}

function see(draft: Draft, observed: ObservedPod): void {
  const entry = draft.entries.get(observed.uid);
  if (!entry) return;
  const seen = { ...entry, observed, why: 'the runtime shows a change' };
  note(draft, seen);
  if (seen.phase === 'syncing') dispatch(draft, seen);
}

/** A probe that changes its mind may start, restart or end something; readiness is only shown. */
function applyProbe(draft: Draft, { uid, container, findings }: Extract<BookEvent, { kind: 'probe' }>): void {
  const entry = draft.entries.get(uid);
  if (!entry || !('probes' in entry)) return;
  const before = entry.probes.get(container);
  const probed = { ...entry, probes: new Map(entry.probes).set(container, findings) };
  note(draft, probed);
  const isMoving =
    before?.liveness !== findings.liveness ||
    before.startup !== findings.startup ||
    before.started !== findings.started;
  if (probed.phase === 'syncing' && isMoving) dispatch(draft, probed);
}

/** Whether it has to look again when these objects change; what has not begun will look when it does. */
function isServedBy({ pod, phase }: Entry, keys: ReadonlySet<ObjectKey>): boolean {
  if (!pod || (phase !== 'syncing' && phase !== 'preparing')) return false;
  for (const key of referencesOf(pod)) if (keys.has(key)) return true;
  return false;
}

function wake(draft: Draft, uid: PodUid, why = 'it is time to look again'): void {
  const entry = draft.entries.get(uid);
  if (!entry || WORK_OF[entry.phase] === undefined) return;
  const awake = { ...entry, why };
  const rests = isAtRest(entry);
  // A look at a pod at rest is no news: only its outcome may be.
  if (!rests) note(draft, awake);
  dispatch(draft, awake, { fresh: !rests });
}

/** Nothing of it has failed, and what waits does so for a time: what relists would have told is all that a look could. */
function isAtRest(entry: Entry): boolean {
  if (entry.phase !== 'syncing' || 'error' in entry) return false;
  for (const { reason } of entry.waiting.values()) if (reason !== 'CrashLoopBackOff') return false;
  return true;
}

/** Everything ends and nothing starts again; what was to come back does not. */
function drain(draft: Draft): void {
  draft.draining = true;
  for (const entry of [...draft.entries.values()]) {
    if ('again' in entry) note(draft, toGone(entry));
    end(draft, entry.uid, undefined, 'the agent stops its pods before it exits');
  }
}
