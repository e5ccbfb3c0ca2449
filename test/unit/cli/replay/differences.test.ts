import { describe, expect, it } from 'vitest';
import { differences } from '../../../../src/cli/replay/differences.ts';

describe('differences', () => {
  it('names each field that is another one, came or went', () => {
    expect(differences({ a: [1, { b: 'x' }], c: 1 }, { a: [1, { b: 'y' }, 3], d: 1 })).toEqual([
      { path: 'a[1].b', then: 'x', now: 'y' },
      { path: 'a[2]', then: undefined, now: 3 },
      { path: 'c', then: 1, now: undefined },
      { path: 'd', then: undefined, now: 1 },
    ]);
  });

  it('takes waits that differ by what the clock goes on meanwhile for the same, and no other number', () => {
    expect(differences({ next: 10_000, nextTry: 5, delay: 1 }, { next: 9_950, nextTry: 6, delay: 1 })).toEqual([]);
    expect(differences({ next: 10_000 }, { next: 20_000 })).toHaveLength(1);
    expect(differences({ delay: 1 }, { delay: 2 })).toHaveLength(1);
  });

  it('takes what stands for a secret for any text, on either side', () => {
    const standIn = 'masked-0123456789ab';
    expect(differences([`a${standIn}b`, 'a1b'], ['a1b', `a${standIn}b`])).toEqual([]);
    expect(differences([`a${standIn}b`], ['a1c'])).toHaveLength(1);
  });
});
