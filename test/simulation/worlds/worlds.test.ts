import { describe, expect, it } from 'vitest';
import { violations } from './invariants.ts';
import { liveWorld } from './live-world.ts';
import { shrinkWorld } from './shrink-world.ts';
import { worldOf } from './world-of.ts';

/** `npm run soak -- --worlds 10000 --seed 1` looks further; one world again: `--worlds 1 --seed S`. */
const FIRST = Number(process.env['RXLET_WORLD_SEED'] ?? 1);
const MANY = Number(process.env['RXLET_WORLDS'] ?? 400);
/** Worlds in one test. */
const SHARE = 25;

const shares = Array.from({ length: Math.ceil(MANY / SHARE) }, (_, index) => FIRST + index * SHARE);

describe(`of ${MANY} random worlds`, () => {
  it.each(shares)('those from seed %i on hold all invariants', (first) => {
    const seeds = Array.from({ length: Math.min(SHARE, FIRST + MANY - first) }, (_, index) => first + index);
    const found = seeds.flatMap((seed) => {
      const told = violations(liveWorld(worldOf(seed)));
      return told.length === 0 ? [] : [`seed ${seed}`, ...told];
    });
    expect(found).toEqual([]);
  });

  it('each can be lived again from its seed, to the last call', () => {
    const life = (seed: number): unknown => {
      const { entries, calls, settledAt } = liveWorld(worldOf(seed));
      return { calls, settledAt, entries: entries.map((entry) => JSON.stringify(entry)) };
    };
    for (const seed of [FIRST, FIRST + 6, FIRST + 11]) expect(life(seed)).toEqual(life(seed));
    expect(life(FIRST + 1)).not.toEqual(life(FIRST));
  });

  it('each knows of every call how it ended', () => {
    const { entries, calls } = liveWorld(worldOf(FIRST));
    const noted = entries.filter((entry) => entry.kind === 'call');
    expect(noted.map(({ index }) => calls[index]?.request)).toEqual(noted.map(({ request }) => request));
  });

  it('one that fails is cut down to what it takes', () => {
    const plan = worldOf(7);
    const [kept] = plan.steps;
    const shrunk = shrinkWorld(plan, ({ steps }) => steps.some((step) => step === kept));
    expect(shrunk.steps).toEqual([kept]);
    expect(shrunk.pods).toHaveLength(1);
    expect(shrunk.rates).toEqual({});
  });
});
