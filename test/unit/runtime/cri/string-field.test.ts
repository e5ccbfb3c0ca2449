import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { stringField } from '../../../../src/runtime/cri/string-field.ts';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Event { string first = 1; uint64 number = 2; fixed64 wide = 3; fixed32 narrow = 4; string last = 500; }
`);
const Event = root.lookupType('Event');

describe('stringField', () => {
  it('finds a string among fields of every other kind', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(text, text, fc.nat(), (first, last, number) => {
        const bytes = Event.encode(Event.fromObject({ first, number, wide: number, narrow: number, last })).finish();
        expect(stringField(bytes, 1)).toBe(first);
        expect(stringField(bytes, 500)).toBe(last);
      }),
      { seed: 3 },
    );
  });

  it('is empty for a field that is absent or holds no string', () => {
    const bytes = Event.encode(Event.fromObject({ number: 7 })).finish();
    expect(stringField(bytes, 1)).toBe('');
    expect(stringField(bytes, 2)).toBe('');
    expect(stringField(new Uint8Array(), 1)).toBe('');
  });

  it('comes to an end on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(typeof stringField(bytes, 1)).toBe('string');
      }),
      { seed: 3 },
    );
  });
});
