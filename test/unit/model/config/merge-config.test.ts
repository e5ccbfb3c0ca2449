import { describe, expect, it } from 'vitest';
import { mergeConfig } from '../../../../src/model/config/merge-config.ts';

describe('mergeConfig', () => {
  it.each([
    ['puts a new key in', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['lets the patch win', { a: 1 }, { a: 2 }, { a: 2 }],
    ['takes a key away with null', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    [
      'merges maps key by key',
      { gates: { A: true, B: true } },
      { gates: { B: false } },
      { gates: { A: true, B: false } },
    ],
    ['replaces lists', { dns: ['10.0.0.1'] }, { dns: ['10.0.0.2'] }, { dns: ['10.0.0.2'] }],
    ['replaces a scalar by a map, without its nulls', { a: 1 }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    ['replaces a map by a scalar', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ['takes a patch that is no map as the whole', { a: 1 }, [1], [1]],
  ])('%s', (_name, document, patch, expected) => {
    expect(mergeConfig(document, patch)).toEqual(expected);
  });

  it('keeps a key with the name of a prototype as a plain key', () => {
    const merged = mergeConfig({}, JSON.parse('{"__proto__": {"a": 1}}'));
    expect(Object.hasOwn(merged as object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
});
