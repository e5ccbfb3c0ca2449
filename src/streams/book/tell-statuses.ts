import { assertNever } from '../../model/errors.ts';
import type { Pod, PodStatus } from '../../model/pod.ts';
import { awaitingStatus } from '../../model/status/evicted-status.ts';
import { nextStatus } from '../../model/status/pod-status.ts';
import { refusedStatus } from '../../model/status/refused-status.ts';
import type { Probed, StatusFacts } from '../../model/status/status-facts.ts';
import { note, type Draft } from './draft.ts';
import type { Begun, BookFacts, Entry, Known, PodBook } from './pod-book.ts';

/** Gives every entry that this event touched the status that follows from it. `now` is milliseconds since 1970. */
export function tellStatuses(draft: Draft, before: PodBook, now: number): void {
  for (const uid of [...draft.entries.touched]) {
    const entry = draft.entries.get(uid);
    if (!entry?.pod || before.entries.get(uid) === entry) continue;
    note(draft, { ...entry, status: statusOf(entry, entry.pod, draft.facts, now) });
  }
}

/** What is shown of a pod: a function of the state that it is in. */
function statusOf(entry: Entry, pod: Pod, facts: BookFacts, now: number): PodStatus {
  switch (entry.phase) {
    case 'refused':
      return refusedStatus(pod, entry.status, entry.refusal, now);
    case 'waiting':
      if (entry.isOut && entry.eviction && entry.status) return awaitingStatus(entry.status, entry.eviction);
      return nextStatus(pod, entry.status, factsOf(entry, NOTHING_BEGUN, facts, now));
    case 'preparing':
      return nextStatus(pod, entry.status, factsOf(entry, NOTHING_BEGUN, facts, now));
    case 'syncing': {
      const { starting } = entry;
      const known = { ...factsOf(entry, entry, facts, now), ...(starting ? { starting } : {}) };
      return nextStatus(pod, entry.status, { ...known, goesOn: true });
    }
    case 'finished':
      return nextStatus(pod, entry.status, factsOf(entry, entry, facts, now));
    case 'terminating':
    case 'ended':
      return nextStatus(pod, entry.status, { ...factsOf(entry, entry, facts, now), isEnding: true });
    default:
      return assertNever(entry);
  }
}

function factsOf(
  { observed }: Known,
  { waiting, probes, verdict }: Pick<Begun, 'waiting' | 'probes' | 'verdict'>,
  { runtimeName, hostIps, recursiveReadOnly }: BookFacts,
  now: number,
): StatusFacts {
  const probed = probedOf(probes, observed);
  const features = recursiveReadOnly ? { recursiveReadOnly } : {};
  return { observed, waiting, probed, verdict, runtimeName, hostIps, ...features, isEnding: false, now };
}

const NOTHING_BEGUN: Pick<Begun, 'waiting' | 'probes'> = { waiting: new Map(), probes: new Map() };

/** What was found of an earlier instance of a container says nothing about the one that there is now. */
function probedOf(probes: Begun['probes'], observed: Known['observed']): ReadonlyMap<string, Probed> {
  const current = [...probes].filter(
    ([name, { containerId }]) => observed?.containers.find((seen) => seen.name === name)?.id === containerId,
  );
  return new Map(current.map(([name, { started, ready }]) => [name, { started, ready }]));
}
