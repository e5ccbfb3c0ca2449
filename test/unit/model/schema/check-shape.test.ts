import { describe, expect, it } from 'vitest';
import { checkShape, type Schema } from '../../../../src/model/schema/check-shape.ts';
import { formatFieldPath } from '../../../../src/model/schema/field-path.ts';
import { settleShape } from '../../../../src/model/schema/settle-shape.ts';

const SCHEMA: Schema = {
  Boat: {
    name: 'string',
    length: 'int',
    crew: 'int32',
    speed: 'number',
    sailing: 'boolean',
    load: 'Quantity',
    berth: 'IntOrString',
    launched: 'Time',
    watch: 'Duration',
    logo: 'bytes',
    notes: 'any',
    flags: 'Array<string>',
    labels: 'Map<string>',
    holds: 'Map<Quantity>',
    masts: 'Array<Mast>',
  },
  Mast: { height: 'int', sails: 'Array<string>' },
};

function problemsOf(value: unknown): readonly string[] {
  return checkShape(SCHEMA, 'Boat', value).map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
}

describe('checkShape', () => {
  it('finds nothing wrong with what fits', () => {
    const boat = {
      name: 'ada',
      length: 9007199254740993n,
      crew: -3,
      speed: 1.5,
      sailing: false,
      load: '1.5Gi',
      berth: 7,
      launched: '2026-01-31T12:00:00.5+01:00',
      watch: '-1h2.5m3µs',
      logo: 'aGVsbG8=',
      notes: { any: ['thing'] },
      flags: [],
      labels: { 'a/b': 'c' },
      holds: { fore: 1, aft: '2k' },
      masts: [{ height: 1, sails: ['jib'] }, {}],
    };
    expect(problemsOf(boat)).toEqual([]);
  });

  it('takes null as absent, except in a list', () => {
    expect(problemsOf({ name: null, masts: null, labels: { a: null }, flags: ['x', null] })).toEqual([
      'flags[1]: must not be empty',
    ]);
  });

  it.each<[string, unknown, string]>([
    ['name', 1, 'must be a string, not the number 1; put it in quotes'],
    ['name', true, 'must be a string, not the boolean true; put it in quotes'],
    ['name', ['x'], 'must be a string, not a list'],
    ['length', '1', 'must be a whole number, not the string "1"'],
    ['length', 1.5, 'must be a whole number, not the number 1.5'],
    ['length', 2n ** 63n, 'must fit in 64 bits'],
    ['crew', 2 ** 31, 'must fit in 32 bits'],
    ['speed', '1', 'must be a number, not the string "1"'],
    ['sailing', 'true', 'must be true or false, not the string "true"; take off the quotes'],
    ['sailing', 1, 'must be true or false, not the number 1'],
    ['load', '1 Gi', 'must be a quantity, for example 500m, 1.5 or 64Mi, not the string "1 Gi"'],
    ['load', {}, 'must be a quantity, for example 500m, 1.5 or 64Mi, not a map'],
    ['berth', 1.5, 'must be a whole number, not the number 1.5'],
    ['launched', 'today', 'must be a time, for example "2026-01-31T12:00:00Z", not the string "today"'],
    ['watch', '90', 'must be a duration, for example "1m30s", not the string "90"'],
    ['watch', 90, 'must be a duration, for example "1m30s", not the number 90'],
    ['logo', 'a b', 'must be a string in base 64'],
    ['flags', 'x', 'must be a list, not the string "x"'],
    ['labels', [], 'must be a map, not a list'],
    ['masts', [1], 'must be a map of fields, not the number 1'],
    ['nme', 'x', 'unknown field, did you mean name?'],
    ['Labels', {}, 'unknown field, did you mean labels?'],
    ['sialing', true, 'unknown field, did you mean sailing?'],
    ['toString', 'x', 'unknown field'],
    ['anchor', 'x', 'unknown field'],
  ])('refuses a wrong %s (case %#)', (field, value, message) => {
    expect(problemsOf({ [field]: value }).map((text) => text.replace(/^[^:]+: /, ''))).toEqual([message]);
  });

  it('names the path to every mistake', () => {
    expect(problemsOf({ masts: [{}, { sails: [1], colour: 'x' }], holds: { 'a.b/c': 'x' } })).toEqual([
      'masts[1].sails[0]: must be a string, not the number 1; put it in quotes',
      'masts[1].colour: unknown field',
      'holds[a.b/c]: must be a quantity, for example 500m, 1.5 or 64Mi, not the string "x"',
    ]);
  });

  it('wants a map at the root', () => {
    expect(checkShape(SCHEMA, 'Boat', 'x')).toEqual([
      { path: [], message: 'must be a map of fields, not the string "x"' },
    ]);
  });
});

describe('settleShape', () => {
  it('drops nulls, writes quantities as strings and keeps empty strings of maps', () => {
    const boat = {
      name: null,
      length: 3n,
      load: 0.5,
      holds: { a: 9007199254740993n, b: null },
      labels: { a: null },
      masts: [{ height: null }],
    };
    expect(settleShape(SCHEMA, 'Boat', boat)).toEqual({
      length: 3,
      load: '0.5',
      holds: { a: '9007199254740993' },
      labels: { a: '' },
      masts: [{}],
    });
  });
});
