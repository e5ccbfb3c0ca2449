import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks, and those after which what was waited for will not come. */
const PAUSE = 15;
const LIMIT = 300_000;

/** Looks again and again until it holds. Throws when that takes too long. */
export async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + LIMIT;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`waited ${LIMIT / 1000} s in vain for: ${what}`);
    await delay(PAUSE);
  }
}

/** Milliseconds that it takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The value in the middle; of an even number of values the upper of the two. Undefined where there is none. */
export function median(values: readonly number[]): number | undefined {
  return quantile(values, 0.5);
}

/** The value that a share of all values lies below. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
