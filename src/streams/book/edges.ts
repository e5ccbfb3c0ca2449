import type { Refusal } from '../../model/admission/admission-node.ts';
import { graceOf } from '../../model/grace.ts';
import { newerLook } from '../../model/newer-look.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import type { Eviction } from '../../model/restart/eviction.ts';
import type { Verdict } from '../../model/status/status-facts.ts';
import type { Begun, Ended, Finished, Known, Preparing, Refused, Syncing, Terminating, Waiting } from './pod-book.ts';

/*
 * Every way from one phase of a pod's life to another. The argument tells from where it may be taken; what is known
 * only in the phase that is left stays behind with it.
 */

/** Its predecessor runs on until all is at hand. */
export function toPreparing(entry: Waiting | Refused, why: string): Preparing {
  return { ...untold(entry), phase: 'preparing', pod: entry.pod, why };
}

/** For its turn; with a refusal, for somebody to leave. */
export function toWaiting(entry: Preparing | Waiting | Refused, refusal?: Refusal): Waiting {
  return { ...untold(entry), phase: 'waiting', pod: entry.pod, ...(refusal ? { refusal } : {}) };
}

export function toRefused(entry: Preparing | Waiting | Refused, refusal: Refusal): Refused {
  return { ...known(entry), phase: 'refused', pod: entry.pod, refusal };
}

/** Nothing of it is left since it was evicted, and it stays away for a while. */
export function toAwaited(entry: Waiting, { status }: Ended, eviction: Eviction): Waiting {
  return { ...toWaiting(entry), eviction, isOut: true, ...(status ? { status } : {}) };
}

/** For its turn; what was told of it is over. */
export function toReturned(entry: Waiting): Waiting {
  const waiting = { ...toWaiting(entry) };
  delete waiting.status;
  return waiting;
}

/** It has its place. */
export function toSyncing(entry: Waiting | Refused, why: string): Syncing {
  return { ...untold(entry), phase: 'syncing', pod: entry.pod, waiting: new Map(), probes: new Map(), why };
}

/** It is wanted, whatever was to take its place. */
export function toKept(entry: Syncing, pod: Pod, why: string): Syncing {
  const failure = 'error' in entry ? { error: entry.error } : {};
  const starting = entry.starting ? { starting: entry.starting } : {};
  return { ...begun(entry), phase: 'syncing', pod, grace: graceOf(pod), why, ...failure, ...starting };
}

/** Its last work has succeeded. */
export function toSynced(entry: Syncing, found: Pick<Begun, 'observed' | 'waiting' | 'verdict'>): Syncing {
  const { pod, successor } = entry;
  const synced = { ...begun(entry), phase: 'syncing', ...found } as const;
  if (!pod) return { ...synced, successor };
  return { ...synced, pod, ...(successor === undefined ? {} : { successor }) };
}

/** The work in flight starts a container, which is shown only when all of that is done. */
export function toStarting(entry: Syncing, container: string): Syncing {
  return { ...entry, starting: new Set(entry.starting).add(container) };
}

/** Its last work has failed, and so has ended. */
export function toFailed(
  entry: Preparing | Syncing | Terminating | Ended,
  { error, observed }: { readonly error: unknown; readonly observed?: ObservedPod },
): Preparing | Syncing | Terminating | Ended {
  const failed = { ...entry, error, ...(observed ? { observed: newerLook(observed, entry.observed) } : {}) };
  if (failed.phase === 'syncing') delete failed.starting;
  return failed;
}

/** It runs on until another can take its place. */
export function toReplaced(entry: Syncing, successor: PodUid): Syncing {
  return { ...entry, successor };
}

export function toFinished(entry: Syncing & { readonly pod: Pod }): Finished {
  return { ...begun(entry), phase: 'finished', pod: entry.pod };
}

export interface Ending {
  /** Seconds; a grace that is shorter already stays. */
  readonly grace?: number | undefined;
  readonly why: string;
  readonly verdict?: Verdict;
  /** It is to come back. */
  readonly again?: Pod;
}

export function toTerminating(entry: Syncing | Terminating, { grace = Infinity, ...ending }: Ending): Terminating {
  const { pod, successor } = entry;
  return {
    ...begun(entry),
    phase: 'terminating',
    ...(pod ? { pod } : {}),
    ...(successor === undefined ? {} : { successor }),
    ...(entry.phase === 'terminating' && entry.again ? { again: entry.again } : {}),
    ...ending,
    grace: Math.min(grace, entry.grace),
  };
}

/** Nothing of it runs any more. */
export function toEnded(entry: Finished | Terminating, why: string): Ended {
  const { pod } = entry;
  const again = entry.phase === 'terminating' ? entry.again : undefined;
  return { ...begun(entry), phase: 'ended', ...(pod ? { pod } : {}), ...(again ? { again } : {}), why };
}

/** It does not come back when it has ended. */
export function toGone(entry: Terminating | Ended): Terminating | Ended {
  const gone = { ...entry };
  delete gone.again;
  return gone;
}

/** What was told of a pod that was not taken is over once it is. */
function untold(entry: Preparing | Waiting | Refused): Known {
  const { status, ...rest } = known(entry);
  return entry.phase === 'refused' || status === undefined ? rest : { ...rest, status };
}

function known({ uid, of, name, grace, why, observed, status, eviction }: Known): Known {
  return {
    ...{ uid, of, name, grace, why },
    ...(observed ? { observed } : {}),
    ...(status ? { status } : {}),
    ...(eviction ? { eviction } : {}),
  };
}

function begun(entry: Begun): Begun {
  const { waiting, probes, verdict } = entry;
  return { ...known(entry), waiting, probes, ...(verdict ? { verdict } : {}) };
}
