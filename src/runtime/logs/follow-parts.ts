import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { closeAll, isMissing, openParts, type OpenPart } from './open-parts.ts';
import { readFrom, readPart } from './read-part.ts';

/** Milliseconds after which a log is looked at although nobody said that it changed. */
const POLL = 1_000;
/** Milliseconds that a runtime gets to go over to the new file, and to write what it still holds when a container ends. */
const SETTLE = 200;

export interface FollowSignals {
  /** Nothing is written any more: what is there is read to its end. */
  readonly ended: AbortSignal;
  /** Nobody listens any more. */
  readonly left: AbortSignal;
}

/** The part that is being written, and how far it was read. */
interface Place {
  readonly part: OpenPart;
  position: number;
}

/**
 * Goes on where reading the last of `parts` ended: yields what is written to the log from now on, over every
 * rotation, until `ended` and all is read. Takes the parts over, and closes them. `lastRotated` is the date of the
 * newest part that was rotated away before.
 *
 * A rotated part stays open until it is read to its end, so that it does not matter when it is compressed or removed;
 * the one before the present one is looked at again as long as the runtime might still write to it.
 */
export async function* followParts(
  path: string,
  parts: readonly OpenPart[],
  start: number,
  lastRotated: string,
  { ended, left }: FollowSignals,
): AsyncGenerator<Buffer> {
  const changes = watchFolder(dirname(path), [ended, left]);
  const held = new Set(parts);
  let newest = newestOf(parts, lastRotated);
  const last = parts.at(-1);
  let place: Place | undefined = last && last.rotated === undefined ? { part: last, position: start } : undefined;
  let before: Place | undefined;
  let settled = 0;

  try {
    while (!left.aborted) {
      let told = false;
      for (const each of [before, place]) {
        if (!each) continue;
        for await (const chunk of readOn(each)) {
          told = true;
          yield chunk;
        }
      }
      if (told) {
        settled = 0;
        continue;
      }
      if (await hasMoved(path, place)) {
        if (place && settled++ === 0) {
          await delay(SETTLE);
          continue;
        }
        settled = 0;
        const found = await openParts(path, ({ rotated = LAST }) => rotated > newest);
        for (const part of found) held.add(part);
        newest = newestOf(found, newest);
        const fresh = await withoutKnown(found, place);
        const rotated = fresh.filter((part) => part.rotated !== undefined);
        const latest = lastWritten(rotated);
        for (const part of rotated) if (part !== latest?.part) yield* readPart(part);
        if (latest) yield* readOn(latest);
        const now = found.find((part) => part.rotated === undefined);
        const next = now && { part: now, position: await startOf(now, place) };
        const past = [before?.part, place?.part, ...found];
        before = latest ?? place ?? before;
        place = next;
        await drop(past.filter((part) => part !== before?.part && part !== place?.part));
        continue;
      }
      if (ended.aborted && settled++ > 0) return;
      if (ended.aborted) await delay(SETTLE);
      else await changes.next(POLL);
    }
  } finally {
    changes.close();
    await closeAll([...held]);
  }

  async function drop(those: readonly (OpenPart | undefined)[]): Promise<void> {
    const some = those.filter((part) => part !== undefined);
    for (const part of some) held.delete(part);
    await closeAll(some);
  }
}

/** After every date. */
const LAST = '~';

/** The newest date among those of parts and one that is known already. */
export function newestOf(parts: readonly OpenPart[], known: string): string {
  return parts.reduce((newest, { rotated = '' }) => (rotated > newest ? rotated : newest), known);
}

/** What was written to a part since it was read last; from its beginning where it was cut down (logrotate's copytruncate). */
async function* readOn(place: Place): AsyncGenerator<Buffer> {
  const { size } = await place.part.handle.stat();
  if (size < place.position) place.position = 0;
  if (size === place.position) return;
  for await (const chunk of readFrom(place.part.handle, place.position)) {
    place.position += chunk.length;
    yield chunk;
  }
}

/** The newest rotated part, if the runtime may still write to it, though it came and went between two looks. */
function lastWritten(rotated: readonly OpenPart[]): Place | undefined {
  const last = rotated.at(-1);
  return last?.compressed === false ? { part: last, position: 0 } : undefined;
}

/** Whether another file has taken the place of the one that is read. */
async function hasMoved(path: string, place: Place | undefined): Promise<boolean> {
  try {
    return (await stat(path)).ino !== place?.part.inode;
  } catch (error) {
    if (isMissing(error)) return false; // the runtime makes a new one soon, or never
    throw error;
  }
}

/** Bytes by which a part is told from others: its first records, with their times in nanoseconds. */
const FINGERPRINT = 256;
const NEWLINE = 0x0a;

/** The part that was read until now is among those that were found, under its new name, unless it was removed. */
async function withoutKnown(found: readonly OpenPart[], place: Place | undefined): Promise<readonly OpenPart[]> {
  if (!place) return found;
  const [first, ...others] = found;
  if (first?.rotated === undefined) return found;
  if (first.inode === place.part.inode) return others;
  // A copy of it, compressed or cut down to its end. The runtime may have written to ours since.
  return (await holds(place.part, await beginning(first))) ? others : found;
}

/** Where to read on in the file that has taken the place of the one that was read until now. */
async function startOf(part: OpenPart, place: Place | undefined): Promise<number> {
  if (!place) return 0;
  if (part.inode === place.part.inode) return place.position; // it got its name back
  const isCopy = await holds(place.part, await beginning(part)); // of one that is written no more, cut down to its end
  return isCopy ? (await part.handle.stat()).size : 0;
}

async function beginning(part: OpenPart): Promise<Buffer> {
  for await (const chunk of readPart(part)) return chunk.subarray(0, FINGERPRINT);
  return Buffer.alloc(0);
}

async function holds(part: OpenPart, bytes: Buffer): Promise<boolean> {
  if (!bytes.includes(NEWLINE) && bytes.length < FINGERPRINT) return false; // no whole record yet
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readPart(part)) {
    const text = Buffer.concat([rest, chunk]);
    if (text.includes(bytes)) return true;
    rest = text.subarray(-FINGERPRINT);
  }
  return false;
}

interface Changes {
  /** Resolves when something in the folder has changed since the last time, or after a while. */
  readonly next: (wait: number) => Promise<void>;
  readonly close: () => void;
}

function watchFolder(folder: string, signals: readonly AbortSignal[]): Changes {
  let isNews = false;
  let wake = (): void => undefined;
  function hear(): void {
    isNews = true;
    wake();
  }
  let watcher: ReturnType<typeof watch> | undefined;
  try {
    watcher = watch(folder, { persistent: false }, hear);
    watcher.on('error', () => undefined);
  } catch {
    // Without inotify there is the poll.
  }
  for (const signal of signals) signal.addEventListener('abort', hear, { once: true });
  return {
    async next(wait) {
      if (!isNews) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isNews = false;
    },
    close() {
      watcher?.close();
      for (const signal of signals) signal.removeEventListener('abort', hear);
    },
  };
}
