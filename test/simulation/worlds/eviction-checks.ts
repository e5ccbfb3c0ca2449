import type { WorldRecord } from './journal.ts';
import { beginningOf, mayForget, NOTING, replay, isRunning } from './replay.ts';

/** Short of a wait by so much a start may be; milliseconds. */
const SLACK = 100;

/** Who takes too much of the disk, or what his limits say is too much, and nobody else. */
export function evictedForNothing({ entries }: WorldRecord): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'evicted' && !entry.takesTooMuch
      ? [`${entry.at} ms: ${entry.uid} is evicted, and takes no more than it may`]
      : [],
  );
}

/** It begins anew when its wait is over, unless it is wanted anew, or who knew of the wait is gone. */
export function backTooSoon(record: WorldRecord): readonly string[] {
  const away = new Map<string, { readonly at: number; readonly wait: number }>();
  return replay(record, (entry, moment) => {
    if (entry.kind === 'evicted') away.set(entry.uid, entry);
    const begins = beginningOf(entry, moment);
    const eviction = begins && away.get(begins.uid);
    if (!begins || !eviction) return [];
    const { at, wait } = eviction;
    const { wantedSince, lastStep, agentEndedAt: crash } = moment;
    const isForgotten = crash > at && (crash < at + NOTING || mayForget(record));
    if ((wantedSince.get(begins.uid) ?? Infinity) > at || (lastStep.get('setClock') ?? -1) > at || isForgotten)
      return [];
    const waited = entry.at - at;
    return waited < wait - SLACK ? [`${begins.call} for ${begins.uid} ${waited} ms after its eviction`] : [];
  });
}

/** What ran when its pod was to end does not run any more when that has ended. */
export function outlivesItsEnd(record: WorldRecord): readonly string[] {
  const endingSince = new Map<string, number>();
  return replay(record, (entry, { instances }) => {
    if (entry.kind === 'agent') endingSince.clear();
    if (entry.kind !== 'phase') return [];
    const { uid, phase } = entry;
    if (phase === 'terminating') endingSince.set(uid, entry.at);
    const since = endingSince.get(uid);
    if (phase === 'terminating' || since === undefined) return [];
    endingSince.delete(uid);
    return [...instances.values()]
      .filter((one) => one.uid === uid && isRunning(one) && (one.startedAt ?? since) < since)
      .map(({ name }) => `${uid} is ${phase ?? 'forgotten'}, and ${name} runs`);
  });
}

const WORTH = { BestEffort: 0, Burstable: 1, Guaranteed: 2 } as const;

/** Where memory is wanting, who asked for none goes before those who did. */
export function worthMoreKilled(record: WorldRecord): readonly string[] {
  return replay(record, (entry, { instances, known }) => {
    if (entry.kind !== 'oomKill') return [];
    const worthOf = (uid: string): number => WORTH[known.get(uid)?.version?.qos ?? 'BestEffort'];
    const victim = instances.get(entry.id);
    if (!victim) return [];
    return [...instances.values()]
      .filter((one) => isRunning(one) && worthOf(one.uid) < worthOf(victim.uid))
      .map(({ uid }) => `${victim.uid} is killed for want of memory while ${uid} runs`);
  });
}
