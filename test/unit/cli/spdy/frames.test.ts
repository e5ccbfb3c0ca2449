import { constants, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  dataFrames,
  endFrame,
  frameReader,
  openFrame,
  pingFrame,
  resetFrame,
  type Frame,
} from '../../../../src/cli/spdy/frames.ts';

/** A control frame as the other end sends it. */
function control(type: number, body: Buffer, flags = 0): Buffer {
  return Buffer.concat([Buffer.from([0x80, 3, 0, type, flags, 0, 0, body.length]), body]);
}

const REPLY = control(2, Buffer.from([0, 0, 0, 1, 9, 9, 9]));

/** What a reader makes of bytes that arrive in pieces of some size; neighbouring data is joined. */
function read(bytes: Buffer, size: number): readonly Frame[] {
  const reader = frameReader();
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    for (const frame of reader(bytes.subarray(start, start + size))) {
      const last = frames.at(-1);
      if (frame.kind === 'data' && last?.kind === 'data' && last.stream === frame.stream && !last.isLast)
        frames[frames.length - 1] = { ...frame, bytes: Buffer.concat([last.bytes, frame.bytes]) };
      else frames.push(frame);
    }
  }
  return frames;
}

describe('frameReader', () => {
  const all = Buffer.concat([
    REPLY,
    dataFrames(1, Buffer.from('hello, world')),
    control(4, Buffer.alloc(12)),
    control(6, Buffer.from([0, 0, 0, 2])),
    dataFrames(3, Buffer.from('beside')),
    endFrame(1),
    control(2, Buffer.from([0, 0, 0, 3]), 1),
    resetFrame(5),
    control(7, Buffer.alloc(8)),
  ]);

  it.each([1, 2, 3, 7, 8, 9, 20, 10_000])('reads frames that arrive in pieces of %i bytes', (size) => {
    expect(read(all, size)).toEqual([
      { kind: 'reply', stream: 1, isLast: false },
      { kind: 'data', stream: 1, bytes: Buffer.from('hello, world'), isLast: false },
      { kind: 'ping', id: Buffer.from([0, 0, 0, 2]) },
      { kind: 'data', stream: 3, bytes: Buffer.from('beside'), isLast: false },
      { kind: 'data', stream: 1, bytes: Buffer.alloc(0), isLast: true },
      { kind: 'reply', stream: 3, isLast: true },
      { kind: 'reset', stream: 5 },
    ]);
  });

  it('gives out data before its frame is whole', () => {
    const reader = frameReader();
    const frame = dataFrames(1, Buffer.from('hello'));
    expect(reader(frame.subarray(0, 10))).toEqual([
      { kind: 'data', stream: 1, bytes: Buffer.from('he'), isLast: false },
    ]);
  });

  it('refuses what is no SPDY/3.1, and frames that are too large', () => {
    expect(() => frameReader()(Buffer.from('\x80\x02 and whatever'))).toThrow('something else than SPDY/3.1');
    expect(() => frameReader()(Buffer.from([0x80, 3, 0, 2, 0, 0xff, 0xff, 0xff]))).toThrow('SPDY/3.1');
  });
});

describe('frames that are sent', () => {
  it('open a stream with headers that any zlib can read', () => {
    const first = openFrame(1, { streamtype: 'data', port: '80' }, true);
    const second = openFrame(3, { streamtype: 'error' }, false);
    expect(first.subarray(0, 4)).toEqual(Buffer.from([0x80, 3, 0, 1]));
    expect(first.readUIntBE(5, 3)).toBe(first.length - 8);
    expect([first.readUInt32BE(8), second.readUInt32BE(8)]).toEqual([1, 3]);
    // zlib's head names a dictionary; the rest is one deflate stream over all frames of a connection.
    const [head, ...rest] = [first.subarray(18, 24), first.subarray(24), second.subarray(18)];
    expect(head.readUInt16BE(0) % 31).toBe(0);
    const plain = inflateRawSync(Buffer.concat(rest), { finishFlush: constants.Z_SYNC_FLUSH });
    const words = [...plain.toString('latin1').matchAll(/[a-z0-9]{2,}/g)].map(([word]) => word);
    expect(words).toEqual(['streamtype', 'data', 'port', '80', 'streamtype', 'error']);
    expect(plain.subarray(0, 4)).toEqual(Buffer.from([0, 0, 0, 2]));
    expect(plain.subarray(4, 8)).toEqual(Buffer.from([0, 0, 0, 'streamtype'.length]));
  });

  it('carry large data in several', () => {
    const bytes = Buffer.alloc(600_000, 'x');
    const frames = read(dataFrames(7, bytes), 1_000_000);
    expect(frames.map((frame) => frame.kind === 'data' && frame.bytes.length)).toEqual([600_000]);
    expect(dataFrames(7, bytes).readUIntBE(5, 3)).toBe(256 * 1024);
    expect(dataFrames(7, Buffer.alloc(0)).length).toBe(0);
  });

  it('answer a ping with its number', () => {
    expect(pingFrame(Buffer.from([0, 0, 0, 4]))).toEqual(Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 4]));
  });
});
