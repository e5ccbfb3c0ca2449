import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { framed, unframer } from '../../../../src/runtime/grpc/framing.ts';

describe('unframer', () => {
  test('gives back what was framed, however the bytes are cut on their way', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 12 })),
        (messages, sizes) => {
          const bytes = Buffer.concat(messages.map(framed));
          const take = unframer(30);
          const got: number[][] = [];
          let at = 0;
          for (const size of sizes) {
            for (const message of take(bytes.subarray(at, at + size))) got.push([...message]);
            at += size;
            if (at >= bytes.length) break;
          }
          expect(got).toEqual(messages.map((message) => [...message]));
        },
      ),
    );
  });

  test('refuses a message that is too long before it is there', () => {
    const head = framed(new Uint8Array(31)).subarray(0, 5);
    expect(() => unframer(30)(head)).toThrow('received message larger than max (31 vs. 30)');
  });

  test('refuses a compressed message', () => {
    expect(() => unframer(30)(Buffer.from([1, 0, 0, 0, 0]))).toThrow('the message is compressed');
  });
});
