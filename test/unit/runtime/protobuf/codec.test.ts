import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import protobuf, { type INamespace } from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { criDescriptor } from '../../../../src/runtime/cri/descriptor.ts';
import { codecs } from '../../../../src/runtime/protobuf/codec.ts';

const root = protobuf.Root.fromJSON(criDescriptor as INamespace).resolveAll();
const codecOf = codecs(criDescriptor);
const types = root.lookup('runtime.v1') as protobuf.Namespace;
const messages = types.nestedArray.filter((item) => item instanceof protobuf.Type);

/** The shape of the types in `model/cri/api.ts`. */
const SHAPE = { longs: Number, enums: String, arrays: true };

describe('codecs', () => {
  test.each(messages.map((type) => [type.name, type] as const))(
    'writes and reads %s as protobufjs does, whatever it holds',
    (name, type) => {
      const { encode, decode } = codecOf(`runtime.v1.${name}`);
      fc.assert(
        fc.property(anyOf(type, 3), (message) => {
          const theirs = type.encode(type.fromObject(message)).finish();
          const meant = plain(type.toObject(type.decode(theirs), SHAPE));
          expect(plain(decode(theirs))).toEqual(meant);
          expect(plain(type.toObject(type.decode(encode(message)), SHAPE))).toEqual(meant);
        }),
        { numRuns: 20, seed: 7 },
      );
    },
  );

  test('passes over fields that a newer runtime has', () => {
    const newer = protobuf
      .parse(
        'syntax = "proto3"; message N { string id = 1; string a = 90; fixed64 b = 91; fixed32 c = 92; int64 d = 93; double e = 94; }',
      )
      .root.lookupType('N');
    const bytes = newer.encode({ id: 'x', a: 'new', b: 1, c: 2, d: 3, e: 4 }).finish();
    expect(codecOf('runtime.v1.PodSandbox').decode(bytes)).toEqual({ id: 'x' });
  });

  test('keeps the number of an enum member that it does not know', () => {
    const bytes = Buffer.from([0x18, 0x09]); // state = 9
    expect(codecOf('runtime.v1.PodSandbox').decode(bytes)).toMatchObject({ state: 9 });
  });

  test('reads numbers of a list that were not packed', () => {
    const { decode } = codecOf('runtime.v1.LinuxSandboxSecurityContext');
    expect(decode(Buffer.from([0x28, 5, 0x28, 6]))).toMatchObject({ supplementalGroups: [5, 6] });
  });

  test('takes a label that is called __proto__ for a label', () => {
    const { encode, decode } = codecOf('runtime.v1.PodSandbox');
    const labels = JSON.parse('{"__proto__": "x"}') as object;
    const read = decode(encode({ labels })) as { readonly labels: object };
    expect(Object.entries(read.labels)).toEqual([['__proto__', 'x']]);
  });

  test.each([
    ['a length beyond the end', [0x0a, 0x05, 0x41]],
    ['a number without an end', [0x18, 0x80]],
    ['a number of more than ten bytes', [0x18, ...Array.from({ length: 11 }, () => 0x80), 0]],
    ['a group', [0xfb, 0x01]],
  ])('refuses %s', (_, bytes) => {
    expect(() => codecOf('runtime.v1.PodSandbox').decode(Buffer.from(bytes))).toThrow(RangeError);
  });

  test('refuses to send an enum member that does not exist', () => {
    expect(() => codecOf('runtime.v1.PodSandboxStatus').encode({ state: 'SANDBOX_MAYBE' })).toThrow('SANDBOX_MAYBE');
  });
});

/** Views and buffers are the same bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function anyOf(type: protobuf.Type, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.fromEntries(
    type.fieldsArray.flatMap((field): [string, fc.Arbitrary<unknown>][] => {
      const one = anyValue(field, depth);
      return one ? [[field.name, repeated(field, one)]] : [];
    }),
  );
  return fc.record(fields, { requiredKeys: [] });
}

function repeated(field: protobuf.Field, one: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (field.map) return fc.dictionary(fc.string({ minLength: 1, maxLength: 200 }).filter(isName), one, { maxKeys: 3 });
  return field.repeated ? fc.array(one, { maxLength: 3 }) : one;
}

/** protobufjs loses this one. */
function isName(key: string): boolean {
  return key !== '__proto__';
}

function anyValue(field: protobuf.Field, depth: number): fc.Arbitrary<unknown> | undefined {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.keys(resolvedType.values));
  if (resolvedType instanceof protobuf.Type) return depth === 0 ? undefined : anyOf(resolvedType, depth - 1);
  switch (field.type) {
    case 'string':
      return fc.string({ unit: 'grapheme', maxLength: 200 });
    case 'bytes':
      return fc.uint8Array({ maxLength: 200 });
    case 'bool':
      return fc.boolean();
    case 'int32':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case 'uint32':
      return fc.integer({ min: 0, max: 2 ** 32 - 1 });
    case 'int64':
      return fc.maxSafeInteger();
    case 'uint64':
      return fc.maxSafeNat();
    case 'double':
      return fc.double({ noNaN: true });
    default:
      throw new Error(`no value for ${field.type}`);
  }
}
