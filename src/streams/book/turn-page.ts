import type { Refusal } from '../../model/admission/admission-node.ts';
import { isStatic } from '../../model/admission/rank.ts';
import type { PodChange } from '../../model/desired.ts';
import { deepEqual } from '../../model/deep-equal.ts';
import { assertNever } from '../../model/errors.ts';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import { fullName, fullNameOf, type Pod, type PodStatus, type PodUid } from '../../model/pod.ts';
import { isRefusedStatus, PREEMPTED, refusedStatus } from '../../model/status/refused-status.ts';
import { nextStatus } from '../../model/status/pod-status.ts';
import type { Probed } from '../../model/status/status-facts.ts';
import { graceOf, graceOfObserved } from '../../model/grace.ts';
import type { PodOutcome, PodWork } from '../workers/pod-work.ts';
import { hasRoomChanged, judgePod } from './judge-pod.ts';
import {
  type BookEvent,
  type BookFacts,
  type BookNote,
  type Entry,
  type Page,
  type PodBook,
  type PodPhase,
  type UpdateMode,
} from './pod-book.ts';

/** The book while one event is being applied. */
interface Draft {
  readonly entries: Map<PodUid, Entry>;
  readonly work: PodWork[];
  readonly notes: BookNote[];
  readonly up: Set<PodUid>;
  strangers: PodBook['strangers'];
  runtimeSeen: boolean;
  allSeen: boolean;
  draining: boolean;
  facts: BookFacts;
}

/**
 * Decides what one event means for the pods of the node. Pure.
 *
 * The rules that it keeps: never two pods of one full name at the same time; the newest wish for a name is the one
 * that starts, the moment the former pod has ended; nothing starts before it is known what runs; nobody's pod is
 * ended before every source was heard, unless a wanted one needs its name; a pod that runs is not ended for its
 * successor before all is at hand for that one; what has begun is never refused, and what was refused is judged again
 * whenever somebody has left. `now` is milliseconds since 1970.
 */
export function turnPage({ book }: Page, event: BookEvent, now: number): Page {
  const draft: Draft = { ...book, entries: new Map(book.entries), up: new Set(book.up), work: [], notes: [] };
  apply(draft, event);
  admit(draft, book);
  tellStatuses(draft, book, now);
  const { work, notes, ...after } = draft;
  return { book: after satisfies PodBook, work, notes };
}

function apply(draft: Draft, event: BookEvent): void {
  switch (event.kind) {
    case 'changes':
      applyChanges(draft, event.changes);
      meetStrangers(draft);
      return;
    case 'allSeen':
      draft.allSeen = true;
      return;
    case 'snapshot':
      draft.runtimeSeen = true;
      seeWhatIsUp(draft, event.snapshot);
      draft.strangers = event.snapshot.pods;
      meetStrangers(draft);
      return;
    case 'sighting':
      see(draft, event.pod);
      return;
    case 'probe':
      applyProbe(draft, event);
      return;
    case 'outcome':
      applyOutcome(draft, event.outcome);
      return;
    case 'wake':
      wake(draft, event.uid);
      return;
    case 'runtimeReady':
      for (const { uid, error } of draft.entries.values()) if (error !== undefined) wake(draft, uid);
      return;
    case 'drain':
      drain(draft);
      return;
    default:
      assertNever(event);
  }
}

/** One pod that goes while another of its name comes is not removed but replaced. */
function applyChanges(draft: Draft, changes: readonly PodChange[]): void {
  const comers = new Map(changes.filter(({ op }) => op === 'add').map(({ pod }) => [fullNameOf(pod), pod]));
  for (const change of changes) {
    const comer = comers.get(fullNameOf(change.pod));
    if (change.op === 'remove' && comer && comer.metadata.uid !== change.pod.metadata.uid) {
      replace(draft, change.pod.metadata.uid, comer);
    } else {
      applyChange(draft, change);
    }
  }
}

/**
 * Lets a pod run on until its successor is ready to take its place, where both can wait for that. A successor that is
 * itself replaced hands on the place that it was to take.
 */
function replace(draft: Draft, uid: PodUid, comer: Pod): void {
  const holder = [...draft.entries.values()].find(({ successor }) => successor === uid) ?? draft.entries.get(uid);
  if (holder?.uid !== uid) forget(draft, uid);
  if (holder?.phase === 'syncing' && modeOf(comer, draft) === 'prepare') {
    if (holder.uid === comer.metadata.uid) return; // it comes back as it was
    set(draft, { ...holder, successor: comer.metadata.uid });
  } else if (holder) {
    unwant(draft, holder.uid);
  }
}

function modeOf({ metadata }: Pod, { facts }: Draft): UpdateMode {
  const asked = metadata.annotations[UPDATE_ANNOTATION];
  return asked === 'immediate' || asked === 'prepare' ? asked : facts.update;
}

/** `prepare` or `immediate`: what is to happen to the running pod when this manifest takes its place. */
const UPDATE_ANNOTATION = 'rxlet.dev/update';

function applyChange(draft: Draft, { op, pod }: PodChange): void {
  switch (op) {
    case 'add':
    case 'update':
      want(draft, pod);
      return;
    case 'reconcile':
      accept(draft, pod);
      return;
    case 'delete':
      end(draft, pod.metadata.uid, pod.metadata.deletionGracePeriodSeconds, 'its deletion was asked for');
      return;
    case 'remove':
      unwant(draft, pod.metadata.uid);
      return;
    default:
      assertNever(op);
  }
}

function want(draft: Draft, pod: Pod): void {
  const { uid } = pod.metadata;
  const entry = draft.entries.get(uid);
  switch (entry?.phase) {
    case undefined:
      prepareOrWait(draft, fresh(pod, draft));
      return;
    case 'preparing':
    case 'waiting':
    case 'refused':
    case 'finished':
      accept(draft, pod);
      return;
    case 'syncing':
      set(draft, { ...without(entry, 'successor'), pod, grace: graceOf(pod), why: 'the manifest changed' });
      dispatch(draft, uid);
      return;
    case 'terminating':
    case 'ended':
      set(draft, { ...entry, again: pod });
      return;
  }
}

/** Takes over what the source says now, without anything to do about it. */
function accept(draft: Draft, pod: Pod): void {
  const entry = draft.entries.get(pod.metadata.uid);
  if (!entry) return;
  if (entry.again) set(draft, { ...entry, again: pod });
  else if (entry.pod) set(draft, { ...entry, pod });
}

/** What takes the place of a running pod is judged as if that one were gone, and before it goes. */
function prepareOrWait(draft: Draft, entry: Entry): void {
  const holder = [...draft.entries.values()].find(({ successor }) => successor === entry.uid);
  if (!holder) {
    set(draft, { ...entry, phase: 'waiting' });
    return;
  }
  const admission = judgePod(draft.entries, draft.facts, entry, holder.uid);
  if (admission.kind === 'refused') refuse(draft, entry, admission.refusal);
  else moveTo(draft, unrefused(entry), 'preparing', 'it takes the place of a running pod');
}

function unwant(draft: Draft, uid: PodUid): void {
  const entry = draft.entries.get(uid);
  for (const { uid: holder, successor } of draft.entries.values()) {
    // The place that it was to take is not to be taken by anyone: the manifest as a whole has gone.
    if (successor === uid) end(draft, holder, undefined, 'no source wants it any more');
  }
  if (entry?.again) set(draft, without(entry, 'again'));
  else end(draft, uid, undefined, 'no source wants it any more');
}

/** Begins the end of a pod. Nothing to do where it has not begun, or is ending already with no longer grace. */
function end(draft: Draft, uid: PodUid, seconds: number | undefined, why: string): void {
  const entry = draft.entries.get(uid);
  switch (entry?.phase) {
    case undefined:
    case 'ended':
      return;
    case 'preparing':
    case 'waiting':
    case 'refused':
      forget(draft, uid);
      return;
    case 'finished':
      moveTo(draft, entry, 'ended', why);
      return;
    case 'syncing':
      moveTo(draft, { ...entry, grace: Math.min(seconds ?? Infinity, entry.grace) }, 'terminating', why);
      return;
    case 'terminating':
      if (seconds !== undefined && seconds < entry.grace)
        moveTo(draft, { ...entry, grace: seconds }, 'terminating', why);
      return;
  }
}

function seeWhatIsUp({ up }: Draft, { pods }: Snapshot): void {
  up.clear();
  for (const [uid, { containers, sandboxes }] of pods) {
    const isUp =
      containers.some(({ state }) => state === 'running') || sandboxes.some(({ state }) => state === 'ready');
    if (isUp) up.add(uid);
  }
}

/** What runs and is in no page: ended once nobody can want it, or at once when a wanted pod needs its name. */
function meetStrangers(draft: Draft): void {
  const unmet = [...draft.strangers].filter(
    ([uid, observed]) => !draft.entries.has(uid) && !meetStranger(draft, observed),
  );
  draft.strangers = new Map(unmet);
}

/** Whether it has a page now. Of one that has none, nobody knows yet whether it is wanted. */
function meetStranger(draft: Draft, observed: ObservedPod): boolean {
  const { uid, name, namespace } = observed;
  const entry: Entry = {
    uid,
    of: { uid, name, namespace },
    name: fullName(name, namespace),
    phase: 'syncing',
    grace: graceOfObserved(observed),
    why: '',
    observed,
    waiting: new Map(),
    probes: new Map(),
  };
  const heir = wantedOf(draft, entry.name);
  if ((heir?.phase === 'waiting' || heir?.phase === 'refused') && heir.pod && modeOf(heir.pod, draft) === 'prepare') {
    set(draft, { ...entry, successor: heir.uid });
    prepareOrWait(draft, heir);
  } else if (heir) {
    moveTo(draft, entry, 'terminating', 'another pod of its name is wanted');
  } else if (draft.allSeen) {
    moveTo(draft, entry, 'terminating', 'nobody wants it');
  } else {
    return false;
  }
  return true;
}

function wantedOf({ entries }: Draft, name: Entry['name']): Entry | undefined {
  return [...entries.values()].find((entry) => entry.name === name && entry.pod && entry.phase !== 'ended');
}

function see(draft: Draft, observed: ObservedPod): void {
  const entry = draft.entries.get(observed.uid);
  if (!entry) return;
  set(draft, { ...entry, observed, why: 'the runtime shows a change' });
  if (entry.phase === 'syncing') dispatch(draft, observed.uid);
}

/** A probe that changes its mind may start, restart or end something; readiness is only shown. */
function applyProbe(draft: Draft, { uid, container, findings }: Extract<BookEvent, { kind: 'probe' }>): void {
  const entry = draft.entries.get(uid);
  if (!entry) return;
  const before = entry.probes.get(container);
  set(draft, { ...entry, probes: new Map(entry.probes).set(container, findings) });
  const isMoving =
    before?.liveness !== findings.liveness ||
    before.startup !== findings.startup ||
    before.started !== findings.started;
  if (entry.phase === 'syncing' && isMoving) dispatch(draft, uid);
}

function applyOutcome(draft: Draft, outcome: PodOutcome): void {
  const { uid, work } = outcome;
  const entry = draft.entries.get(uid);
  if (!entry || work.kind !== workKindOf(entry.phase)) return;
  const settled = without(entry, 'error');
  switch (outcome.kind) {
    case 'synced': {
      const { observed, waiting, finished, verdict } = outcome;
      set(draft, {
        ...settled,
        observed,
        waiting,
        ...(verdict ? { verdict } : {}),
        phase: finished ? 'finished' : 'syncing',
      });
      if (finished && settled.successor) end(draft, uid, undefined, 'its successor takes its place');
      return;
    }
    case 'prepared':
      set(draft, { ...settled, phase: 'waiting' });
      for (const { uid: holder, successor } of draft.entries.values()) {
        if (successor === uid) end(draft, holder, undefined, 'its successor is ready to take its place');
      }
      return;
    case 'ended':
      draft.up.delete(uid);
      moveTo(
        draft,
        { ...settled, observed: outcome.observed, waiting: new Map() },
        'ended',
        'nothing of it runs any more',
      );
      return;
    case 'cleanedUp':
      forget(draft, uid);
      if (entry.again) want(draft, entry.again);
      return;
    case 'failed':
      set(draft, { ...entry, error: outcome.error, ...(outcome.observed ? { observed: outcome.observed } : {}) });
      return;
    default:
      assertNever(outcome);
  }
}

function wake(draft: Draft, uid: PodUid): void {
  const entry = draft.entries.get(uid);
  if (!entry || workKindOf(entry.phase) === undefined) return;
  set(draft, { ...entry, why: 'it is time to look again' });
  dispatch(draft, uid, { fresh: true });
}

/** Everything ends and nothing starts again; what was to come back does not. */
function drain(draft: Draft): void {
  draft.draining = true;
  for (const entry of [...draft.entries.values()]) {
    if (entry.again) set(draft, without(without(entry, 'again'), 'successor'));
    end(draft, entry.uid, undefined, 'the agent stops its pods before it exits');
  }
}

/**
 * Starts every pod whose name is free and that the node takes: first what runs already, then what waits, then what was
 * refused before, each in the order of their arrival.
 */
function admit(draft: Draft, before: PodBook): void {
  if (!draft.runtimeSeen || draft.draining) return;
  const entries = [...draft.entries.values()];
  const waiting = entries.filter(({ phase }) => phase === 'waiting');
  const refused = entries.filter(({ phase, pod }) => phase === 'refused' && pod && isStatic(pod));
  if (waiting.length === 0 && refused.length === 0) return;
  const held = new Set(entries.filter(({ phase }) => HOLDS_NAME[phase]).map(({ name }) => name));
  const [running, comers] = [waiting.filter(isUp), waiting.filter((entry) => !isUp(entry))];
  for (const entry of [...running, ...comers]) {
    if (!held.has(entry.name) && admitOne(draft, entry, isUp(entry))) held.add(entry.name);
  }
  const isChanged = hasRoomChanged(before.entries, draft.entries);
  for (const entry of refused) {
    if (!isChanged && before.entries.get(entry.uid)?.pod === entry.pod) continue;
    if (held.has(entry.name)) prepareAgain(draft, entry);
    else if (admitOne(draft, entry, false)) held.add(entry.name);
  }

  function isUp({ uid }: Entry): boolean {
    return draft.up.has(uid);
  }
}

/** Judges one pod and follows the judgement; whether it has its place now. */
function admitOne(draft: Draft, entry: Entry, isRunning: boolean): boolean {
  const admission = isRunning ? ({ kind: 'admitted' } as const) : judgePod(draft.entries, draft.facts, entry);
  switch (admission.kind) {
    case 'admitted':
      moveTo(draft, unrefused(entry), 'syncing', 'it is wanted');
      return true;
    case 'refused':
      refuse(draft, entry, admission.refusal);
      return false;
    case 'waits':
      if (entry.phase === 'waiting' && deepEqual(entry.refusal, admission.refusal)) return false;
      set(draft, { ...unrefused(entry), phase: 'waiting', refusal: admission.refusal });
      return false;
    case 'preempts':
      for (const { metadata } of admission.victims) preempt(draft, metadata.uid);
      set(draft, { ...unrefused(entry), phase: 'waiting' });
      return false;
    default:
      return assertNever(admission);
  }
}

/** A refused successor gets another chance while its predecessor runs on. */
function prepareAgain(draft: Draft, entry: Entry): void {
  if ([...draft.entries.values()].some(({ successor }) => successor === entry.uid)) prepareOrWait(draft, entry);
}

function refuse(draft: Draft, entry: Entry, refusal: Refusal): void {
  const { reason, message } = refusal;
  if (entry.phase === 'refused' && deepEqual(entry.refusal, refusal)) return;
  set(draft, { ...without(entry, 'error'), phase: 'refused', refusal });
  draft.notes.push({ uid: entry.uid, note: { level: 'Warning', reason, message } });
}

/** What was told of a pod that was not taken is over once it is. */
function unrefused(entry: Entry): Entry {
  return entry.phase === 'refused' ? without(without(entry, 'refusal'), 'status') : without(entry, 'refusal');
}

/** Ends a pod so that a more important one fits; it comes back as soon as there is room again. */
function preempt(draft: Draft, uid: PodUid): void {
  const entry = draft.entries.get(uid);
  if (entry?.phase !== 'syncing') return;
  const { reason, message } = PREEMPTED;
  draft.notes.push({ uid, note: { level: 'Warning', reason, message } });
  const again = entry.pod && !entry.successor && isStatic(entry.pod) ? { again: entry.pod } : {};
  moveTo(draft, { ...entry, ...again, verdict: PREEMPTED }, 'terminating', message);
}

const HOLDS_NAME: Readonly<Record<PodPhase, boolean>> = {
  preparing: false,
  waiting: false,
  refused: false,
  syncing: true,
  finished: true,
  terminating: true,
  ended: false,
};

function moveTo(draft: Draft, entry: Entry, phase: PodPhase, why: string): void {
  set(draft, { ...entry, phase, why });
  dispatch(draft, entry.uid);
}

/** Hands out the work that the pod's phase asks for. */
function dispatch(draft: Draft, uid: PodUid, { fresh: looksAgain = false } = {}): void {
  const entry = draft.entries.get(uid);
  if (!entry) return;
  const { of, pod, observed, probes, status, grace, why, phase } = entry;
  const kind = workKindOf(phase);
  if (kind === 'sync' && pod) {
    const known = { ...(observed && !looksAgain ? { observed } : {}), ...(status ? { status } : {}) };
    draft.work.push({ kind, uid, pod, probes, why, ...known });
  }
  if (kind === 'prepare' && pod) draft.work.push({ kind, uid, pod, why });
  if (kind === 'terminate') draft.work.push({ kind, uid, of, grace, why, ...(pod ? { pod } : {}) });
  if (kind === 'cleanUp') draft.work.push({ kind, uid, of });
}

/** Gives every entry that this event touched the status that follows from it. */
function tellStatuses(draft: Draft, before: PodBook, now: number): void {
  for (const entry of draft.entries.values()) {
    if (!entry.pod || before.entries.get(entry.uid) === entry) continue;
    const { pod, status, phase, refusal } = entry;
    const isRefused = phase === 'refused' && refusal;
    const next = isRefused ? refusedStatus(pod, status, refusal, now) : statusOf(entry, pod, draft, now);
    set(draft, { ...entry, status: next });
  }
}

function statusOf(entry: Entry, pod: Pod, { facts }: Draft, now: number): PodStatus {
  const { observed, waiting, verdict, phase, status } = entry;
  return nextStatus(pod, status, {
    observed,
    waiting,
    probed: probedOf(entry),
    verdict,
    runtimeName: facts.runtimeName,
    hostIps: facts.hostIps,
    isEnding: phase === 'terminating' || phase === 'ended',
    now,
  });
}

/** What was found of an earlier instance of a container says nothing about the one that there is now. */
function probedOf({ probes, observed }: Entry): ReadonlyMap<string, Probed> {
  const current = [...probes].filter(
    ([name, { containerId }]) => observed?.containers.find((seen) => seen.name === name)?.id === containerId,
  );
  return new Map(current.map(([name, { started, ready }]) => [name, { started, ready }]));
}

/** Nothing of it has begun, or nothing of it is left. */
function forget(draft: Draft, uid: PodUid): void {
  draft.entries.delete(uid);
  if (!draft.facts.statuses.has(uid)) return;
  // Should it come back, it begins anew: what an earlier run of the agent knew of it was of the life that is over.
  const statuses = new Map(draft.facts.statuses);
  statuses.delete(uid);
  draft.facts = { ...draft.facts, statuses };
}

function workKindOf(phase: PodPhase): PodWork['kind'] | undefined {
  switch (phase) {
    case 'preparing':
      return 'prepare';
    case 'syncing':
      return 'sync';
    case 'terminating':
      return 'terminate';
    case 'ended':
      return 'cleanUp';
    case 'waiting':
    case 'refused':
    case 'finished':
      return undefined;
  }
}

function fresh(pod: Pod, { facts }: Draft): Entry {
  const { uid, name, namespace } = pod.metadata;
  const status = facts.statuses.get(uid);
  return {
    uid,
    of: { uid, name, namespace },
    name: fullNameOf(pod),
    phase: 'waiting',
    pod,
    grace: graceOf(pod),
    why: '',
    waiting: new Map(),
    probes: new Map(),
    ...(status && !isRefusedStatus(status) ? { status } : {}),
  };
}

function set(draft: Draft, entry: Entry): void {
  draft.entries.set(entry.uid, entry);
}

function without(entry: Entry, key: 'again' | 'error' | 'successor' | 'refusal' | 'status'): Entry {
  const rest: { -readonly [Key in keyof Entry]: Entry[Key] } = { ...entry };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a copy of our own; the key is one of a few.
  delete rest[key];
  return rest;
}
