import { Buffer } from 'node:buffer';

/** Wire types of protobuf. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Bytes of an encoded message, and how far they have been read. */
export interface Reader {
  readonly bytes: Buffer;
  at: number;
  end: number;
  /** Halves of the number that was read last. */
  low: number;
  high: number;
}

export function readerOf(bytes: Uint8Array): Reader {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes: buffer, at: 0, end: buffer.length, low: 0, high: 0 };
}

/** Reads a varint of up to 64 bits into `low` and `high`; returns `low`. */
export function readVarint(reader: Reader): number {
  const { bytes } = reader;
  let byte = next(reader);
  let low = byte & 0x7f;
  let high = 0;
  for (let shift = 7; byte >= 0x80; shift += 7) {
    if (shift > 63) throw new RangeError('a number is longer than ten bytes');
    byte = reader.at < reader.end ? (bytes[reader.at++] ?? 0) : next(reader);
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >> 4;
    } else high |= bits << (shift - 32);
  }
  reader.low = low;
  reader.high = high;
  return low;
}

/** As a number: exact up to 2^53, as the CRI's times and sizes are taken. */
export function readInt64(reader: Reader): number {
  readVarint(reader);
  return reader.high * TWO_32 + (reader.low >>> 0);
}

export function readUint64(reader: Reader): number {
  readVarint(reader);
  return (reader.high >>> 0) * TWO_32 + (reader.low >>> 0);
}

export function readBool(reader: Reader): boolean {
  readVarint(reader);
  return reader.low !== 0 || reader.high !== 0;
}

export function readDouble(reader: Reader): number {
  return reader.bytes.readDoubleLE(skipped(reader, 8));
}

export function readString(reader: Reader): string {
  const length = readVarint(reader);
  const start = skipped(reader, length);
  return reader.bytes.toString('utf8', start, start + length);
}

/** A view: it keeps the whole answer in memory for as long as it is kept. */
export function readBytes(reader: Reader): Buffer {
  const length = readVarint(reader);
  const start = skipped(reader, length);
  return reader.bytes.subarray(start, start + length);
}

/** Passes over a field that is not known. */
export function skip(reader: Reader, wireType: number): void {
  switch (wireType) {
    case WIRE.varint:
      readVarint(reader);
      break;
    case WIRE.fixed64:
      skipped(reader, 8);
      break;
    case WIRE.bytes:
      skipped(reader, readVarint(reader));
      break;
    case WIRE.fixed32:
      skipped(reader, 4);
      break;
    default:
      throw new RangeError(`wire type ${wireType} is not known`);
  }
}

/** Reads an embedded message: `read` sees its bytes and no others. */
export function within<T>(reader: Reader, read: (reader: Reader) => T): T {
  const length = readVarint(reader);
  const end = skipped(reader, length) + length;
  const outer = reader.end;
  reader.at = end - length;
  reader.end = end;
  const value = read(reader);
  reader.end = outer;
  return value;
}

/** Where the next `length` bytes begin, once they are passed over. */
function skipped(reader: Reader, length: number): number {
  const start = reader.at;
  if (length < 0 || start + length > reader.end) throw new RangeError('the message is cut short');
  reader.at = start + length;
  return start;
}

function next(reader: Reader): number {
  if (reader.at >= reader.end) throw new RangeError('the message is cut short');
  return reader.bytes[reader.at++] ?? 0;
}

const TWO_32 = 2 ** 32;
