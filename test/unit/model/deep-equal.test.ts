import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepEqual } from '../../../src/model/deep-equal.ts';

describe('deepEqual', () => {
  const table: readonly [unknown, unknown, boolean][] = [
    [1, 1, true],
    [1, '1', false],
    [null, undefined, false],
    [null, {}, false],
    [[], {}, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, undefined], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: undefined, b: 1 }, { b: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 1 }] } }, true],
    [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }, false],
  ];

  it.each(table)('compares %j with %j: %s', (a, b, equal) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });

  it('agrees with a copy of any value, and with the text of two values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(deepEqual(a, structuredClone(a))).toBe(true);
        expect(deepEqual(a, b)).toBe(sameSorted(a, b));
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

/** The slow way to the same answer. */
function sameSorted(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { record: entries.map(([key, item]) => [key, sorted(item)]) };
}
