import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds a state may take to come about: far more than it should, so that only what never comes fails. */
const LIMIT = 120_000;
/** Milliseconds between two looks: first, and at most. Who waits longer looks less often, since looks take the time of what is looked at. */
const PAUSE = 50;
const LONGEST_PAUSE = 250;

/** Thrown by a look when more waiting cannot help. */
export class HopelessError extends Error {}

/** Looks again and again until `look` gives something, and resolves to that. Throws with the last failed look when it takes too long. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  limit: number = LIMIT,
): Promise<T> {
  const end = performance.now() + limit;
  let failure: unknown;
  let pause = PAUSE;
  do {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      failure = undefined;
    } catch (error: unknown) {
      if (error instanceof HopelessError) throw error;
      failure = error;
    }
    await delay(pause);
    pause = Math.min(pause * 1.2, LONGEST_PAUSE);
  } while (performance.now() < end);
  const last = failure instanceof Error ? `; at last: ${failure.message}` : '';
  throw new Error(`waited ${limit / 1000} s in vain for: ${what}${last}`, { cause: failure });
}
