import fc from 'fast-check';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../../src/model/errors.ts';
import { SubPathError } from '../../../../src/streams/ports/mounts.ts';
import { definitions } from '../../../../src/cli/recording/definitions.ts';
import { valueReader } from '../../../../src/cli/recording/value-reader.ts';
import { valueWriter } from '../../../../src/cli/recording/value-writer.ts';

/** Writes as a recording does, and reads it back. */
function through(value: unknown): unknown {
  const reader = valueReader();
  const write = valueWriter({
    define: definitions((number, text) => {
      reader.define(number, JSON.parse(text));
    }),
  });
  return reader.read(JSON.parse(write(value) ?? 'null'));
}

describe('values of a recording', () => {
  it('are read as they were written, whatever JSON has no form for', () => {
    const values = [
      new Map<unknown, unknown>([
        ['a', new Map([[{ of: 'key' }, 1]])],
        [2, new Set(['x', null])],
      ]),
      new Uint8Array(Buffer.from('text')),
      [Number.NaN, Infinity, 12n, -1.5, null, true],
      { $map: 'no map', $$ref: 1, '': { $: [] } },
    ];
    expect(through(values)).toEqual(values);
  });

  it('are read as they were written, however long and nested they are', () => {
    const leaf = fc.oneof(fc.string({ maxLength: 300 }), fc.double({ noDefaultInfinity: false }), fc.boolean());
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
        fc.array(fc.tuple(fc.string(), tie('any')), { maxLength: 4 }).map((entries) => new Map(entries)),
        fc.array(leaf).map((items) => new Set(items)),
      ),
    })).any;
    fc.assert(
      fc.property(value, (one) => {
        expect(through(one)).toEqual(withoutNegativeZero(one));
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it('are errors of the kind that they were', () => {
    const [runtime, path, system] = through([
      new RuntimeError('notFound', 'StopContainer', 'it is gone'),
      new SubPathError('bind', 'it leads out'),
      Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT', syscall: 'open' }),
    ]) as [RuntimeError, SubPathError, NodeJS.ErrnoException];
    expect(runtime).toBeInstanceOf(RuntimeError);
    expect(runtime).toMatchObject({
      kind: 'notFound',
      call: 'StopContainer',
      message: 'it is gone',
      status: 'NotFound',
    });
    expect(path).toBeInstanceOf(SubPathError);
    expect(path).toMatchObject({ step: 'bind', message: 'it leads out' });
    expect(system).toBeInstanceOf(Error);
    expect(system).toMatchObject({ code: 'ENOENT', syscall: 'open', message: 'ENOENT: no such file' });
  });

  it('leave out what acts', () => {
    expect(through({ a: 1, act: () => 1, b$: of(1), list: [() => 1] })).toEqual({ a: 1, list: [null] });
  });

  it('are put down once, and meant by their number from then on', () => {
    const put: string[] = [];
    const write = valueWriter({ define: definitions((number, text) => put.push(`${number} ${text}`)) });
    const long = { text: 'x'.repeat(300) };
    const first = write([1, long]);
    expect(write([1, { ...long }])).toBe(first);
    expect(first).toBe('[1,{"$ref":1}]');
    expect(put).toEqual([`1 ${JSON.stringify(long)}`]);
  });

  it('that mean something which was never put down are refused', () => {
    expect(() => valueReader().read({ a: [{ $ref: 7 }] })).toThrow('it means value 7, which was not put down before');
  });
});

/** JSON has none. */
function withoutNegativeZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(withoutNegativeZero);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, withoutNegativeZero(item)]));
  if (value instanceof Set) return new Set([...value].map(withoutNegativeZero));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNegativeZero(item)]));
}
