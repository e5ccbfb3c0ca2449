import { describe, expect, it } from 'vitest';
import { randomHex, seededRandom } from '../../../src/simulation/seeded-random.ts';

describe('seededRandom', () => {
  const row = (seed: number, length: number) => {
    const random = seededRandom(seed);
    return Array.from({ length }, random);
  };

  it('gives the same row for the same seed, and another for another', () => {
    expect(row(1, 20)).toEqual(row(1, 20));
    expect(row(1, 20)).not.toEqual(row(2, 20));
  });

  it('spreads evenly between 0 and 1', () => {
    const counts = new Array<number>(10).fill(0);
    for (const number of row(3, 10_000)) {
      expect(number).toBeGreaterThanOrEqual(0);
      expect(number).toBeLessThan(1);
      counts[Math.floor(number * 10)] = (counts[Math.floor(number * 10)] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it('makes ids that do not repeat', () => {
    const random = seededRandom(4);
    const ids = new Set(Array.from({ length: 1_000 }, () => randomHex(random, 64)));
    expect(ids.size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
  });
});
