import { graceOfObserved } from '../../model/grace.ts';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import { fullName, type FullName, type PodUid } from '../../model/pod.ts';
import { prepareOrWait } from './admit.ts';
import { note, put, type Draft } from './draft.ts';
import type { Begun, Entry, Terminating } from './pod-book.ts';
import { modeOf } from './want.ts';

/** Notes what the runtime holds: what is up has its place, and what no page is for is a stranger. */
export function seeRuntime(draft: Draft, listed: Snapshot): void {
  const { pods } = listed;
  draft.runtimeSeen = true;
  draft.listed = listed;
  draft.strangers = pods;
  const up = new Map<PodUid, true>();
  for (const [uid, pod] of pods) if (isUp(pod)) up.set(uid, true);
  draft.up = up;
}

function isUp({ containers, sandboxes }: ObservedPod): boolean {
  return sandboxes.some(({ state }) => state === 'ready') || containers.some(({ state }) => state === 'running');
}

/** What runs and is in no page: ended once nobody can want it, or at once when a wanted pod needs its name. */
export function meetStrangers(draft: Draft): void {
  const unmet = new Map<PodUid, ObservedPod>();
  for (const [uid, observed] of draft.strangers)
    if (!draft.entries.has(uid) && !meetStranger(draft, observed)) unmet.set(uid, observed);
  draft.strangers = unmet;
}

/** Whether it has a page now. Of one that has none, nobody knows yet whether it is wanted. */
function meetStranger(draft: Draft, observed: ObservedPod): boolean {
  const { uid, name, namespace } = observed;
  const stranger: Begun = {
    uid,
    of: { uid, name, namespace },
    name: fullName(name, namespace),
    grace: graceOfObserved(observed),
    why: '',
    observed,
    waiting: new Map(),
    probes: new Map(),
  };
  const heir = wantedOf(draft, stranger.name);
  if ((heir?.phase === 'waiting' || heir?.phase === 'refused') && modeOf(heir.pod, draft) === 'prepare') {
    note(draft, { ...stranger, phase: 'syncing', successor: heir.uid });
    prepareOrWait(draft, heir);
  } else if (heir) {
    put(draft, ending(stranger, 'another pod of its name is wanted'));
  } else if (draft.allSeen) {
    put(draft, ending(stranger, 'nobody wants it'));
  } else {
    return false;
  }
  return true;
}

function ending(stranger: Begun, why: string): Terminating {
  return { ...stranger, phase: 'terminating', why };
}

function wantedOf({ entries, places }: Draft, name: FullName): Entry | undefined {
  for (const uid of places.names().get(name) ?? []) {
    const entry = entries.get(uid);
    if (entry?.pod && entry.phase !== 'ended') return entry;
  }
  return undefined;
}
