import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedKeys, draftOf } from '../../../src/model/layered-map.ts';

type Edit = readonly [key: number, value: number | undefined];

const many = (size: number): ReadonlyMap<number, number> =>
  new Map(Array.from({ length: size }, (_, key) => [key, key]));
const edits = fc.array(fc.tuple(fc.nat(400), fc.option(fc.nat(9), { nil: undefined })), { maxLength: 200 });

function edited(before: ReadonlyMap<number, number>, list: readonly Edit[]): ReadonlyMap<number, number> {
  const draft = draftOf(before);
  for (const [key, value] of list) {
    if (value === undefined) draft.delete(key);
    else draft.set(key, value);
    expect(draft.get(key)).toBe(value);
  }
  return draft.finish();
}

describe('draftOf', () => {
  it('is a map like any other, order included, and leaves what it was made from as it was', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 100, 300), fc.array(edits, { maxLength: 6 }), (size, rounds) => {
        const model = new Map(many(size));
        let map = many(size);
        for (const list of rounds) {
          const before = map;
          const was = [...before];
          map = edited(map, list);
          for (const [key, value] of list) {
            if (value === undefined) model.delete(key);
            else model.set(key, value);
          }
          expect([...map]).toEqual([...model]);
          expect([...map.keys()]).toEqual([...model.keys()]);
          expect([...map.values()]).toEqual([...model.values()]);
          expect(map.size).toBe(model.size);
          expect([...before]).toEqual(was);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is the very same map when nothing was changed', () => {
    const map = edited(many(300), [[1, 7]]);
    expect(draftOf(map).finish()).toBe(map);
  });

  it('copies a small part of a large map for each change', () => {
    let map = many(10_000);
    let seen = 0;
    const count = (): void => {
      seen += 1;
    };
    for (let nth = 0; nth < 200; nth++) {
      const draft = draftOf(map);
      draft.set(nth, -1);
      const next = draft.finish();
      if (nth > 0) for (const _ of changedKeys(map, next)) count();
      map = next;
    }
    expect(seen).toBe(199);
  });
});

describe('changedKeys', () => {
  it('tells exactly in what two versions differ, however far apart they are', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 100, 300), fc.array(edits, { minLength: 1, maxLength: 6 }), (size, rounds) => {
        const versions = [many(size)];
        for (const list of rounds) versions.push(edited(versions.at(-1) ?? many(0), list));
        const last = versions.at(-1) ?? many(0);
        for (const version of versions) {
          const keys = new Set([...version.keys(), ...last.keys()]);
          const differ = [...keys].filter((key) => version.get(key) !== last.get(key));
          expect(changedKeys(version, last).toSorted((a, b) => a - b)).toEqual(differ.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 60 },
    );
  });
});
