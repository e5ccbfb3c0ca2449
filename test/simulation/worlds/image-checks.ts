import { fullReference } from '../../../src/model/images/full-reference.ts';
import { allContainers } from '../../../src/model/containers.ts';
import type { WorldRecord } from './journal.ts';
import { imageGcOf, isOld } from './planned-images.ts';
import { isRunning, replay, type Moment } from './replay.ts';

/** Pinned ones stay, and those of what runs or is wanted. */
export function neededImageGoes(record: WorldRecord): readonly string[] {
  let listedAt = -Infinity;
  return replay(record, (entry, moment) => {
    if (entry.kind === 'agent') listedAt = -Infinity;
    if (isListing(record, entry)) listedAt = entry.at;
    if (entry.kind !== 'imageGoes') return [];
    const isOf = (image: string): boolean => entry.names.includes(fullReference(image));
    const users = [...moment.instances.values()].filter(
      (one) => isRunning(one) && (one.startedAt ?? listedAt) < listedAt && isOf(one.image),
    );
    return [
      ...(entry.isPinned ? [`${nameOf(entry)} goes, which is pinned`] : []),
      ...users.map(({ uid }) => `${nameOf(entry)} goes, which ${uid} runs`),
      ...askers(moment, isOf).map((uid) => `${nameOf(entry)} goes, which ${uid} asks for`),
    ];
  });
}

/** Of pods that have not ended for good. */
function askers({ wanted, phases }: Moment, isOf: (image: string) => boolean): readonly string[] {
  return [...wanted]
    .filter(([uid]) => phases.has(uid) && phases.get(uid) !== 'finished')
    .filter(([, { pod }]) => allContainers(pod.spec).some(({ image = '' }) => isOf(image)))
    .map(([uid]) => uid);
}

/** Where only room is wanted, images go as long as it is wanting. */
export function moreImagesGoThanMust(record: WorldRecord): readonly string[] {
  const { images } = record.plan;
  if (!images || images.maximumAge !== undefined) return [];
  const { lowThresholdPercent: low } = imageGcOf(images).limits;
  let disk = { used: 0, capacity: 1 };
  return record.entries.flatMap((entry) => {
    if (entry.kind === 'disk') disk = entry;
    if (entry.kind !== 'imageGoes' || disk.used * 100 > disk.capacity * low) return [];
    return [`${entry.at} ms: ${nameOf(entry)} goes, though ${disk.used} of ${disk.capacity} bytes are used`];
  });
}

/** Milliseconds for which one that could not be removed may stand back. */
const ROUND = 60_000;
/** Milliseconds after which a look at the images is over where all calls are answered. */
const LOOK = 1_000;

/** What an agent has seen in use goes after what it never has. Without dice only: else nobody knows what it has seen. */
export function usedImageGoesFirst(record: WorldRecord): readonly string[] {
  const { rates, images } = record.plan;
  if (images?.maximumAge !== undefined || Object.keys(rates).length > 0) return [];
  const used = new Set<string>();
  const triedAt = new Map<string, number>();
  let look: { readonly at: number; readonly used: ReadonlySet<string> } | undefined;
  return replay(record, (entry, moment) => {
    if (look && entry.at > look.at + LOOK) {
      const still = usedAt(moment);
      for (const name of look.used) if (still.has(name)) used.add(name);
      look = undefined;
    }
    if (entry.kind === 'agent') {
      used.clear();
      look = undefined;
    }
    if (isListing(record, entry)) look = { at: entry.at, used: usedAt(moment) };
    if (entry.kind !== 'imageGoes') return [];
    for (const name of entry.names) triedAt.set(name, entry.at);
    if (!entry.names.some((name) => used.has(name))) return [];
    return entry.present
      .filter((name) => isOld({ repoTags: [name] }) && entry.at - (triedAt.get(name) ?? -Infinity) > ROUND)
      .map((name) => `${nameOf(entry)} goes before ${name}`);
  });
}

/** What pods ask for that have not ended for good. */
function usedAt({ wanted, phases }: Moment): ReadonlySet<string> {
  const pods = [...wanted].filter(([uid]) => phases.has(uid) && phases.get(uid) !== 'finished');
  return new Set(pods.flatMap(([, { pod }]) => allContainers(pod.spec).map(({ image = '' }) => fullReference(image))));
}

type Entry = WorldRecord['entries'][number];

/** What is answered tells who used which image then. */
function isListing({ calls }: WorldRecord, entry: Entry): boolean {
  return entry.kind === 'call' && entry.name === 'ListImages' && calls[entry.index]?.outcome === 'ok';
}

function nameOf({ names }: Extract<Entry, { kind: 'imageGoes' }>): string {
  return names[0] ?? 'an image';
}
