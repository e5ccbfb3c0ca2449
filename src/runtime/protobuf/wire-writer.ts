import { Buffer } from 'node:buffer';

/** Bytes of a message as it grows. */
export interface Writer {
  bytes: Buffer;
  length: number;
}

export function writerOf(): Writer {
  return { bytes: Buffer.allocUnsafe(512), length: 0 };
}

export function written({ bytes, length }: Writer): Buffer {
  return bytes.subarray(0, length);
}

/** Any whole number of up to 53 bits; a negative one takes ten bytes. */
export function writeVarint(writer: Writer, value: number): void {
  room(writer, 10);
  if (value >= 0 && value < 0x80) {
    writer.bytes[writer.length++] = value;
    return;
  }
  let low = value >>> 0;
  let high = Math.floor(value / TWO_32) >>> 0;
  while (high !== 0 || low >= 0x80) {
    writer.bytes[writer.length++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  writer.bytes[writer.length++] = low;
}

export function writeDouble(writer: Writer, value: number): void {
  room(writer, 8);
  writer.length = writer.bytes.writeDoubleLE(value, writer.length);
}

export function writeString(writer: Writer, value: string): void {
  const length = Buffer.byteLength(value);
  writeVarint(writer, length);
  room(writer, length);
  writer.length += writer.bytes.write(value, writer.length);
}

export function writeBytes(writer: Writer, value: Uint8Array): void {
  writeVarint(writer, value.length);
  room(writer, value.length);
  writer.bytes.set(value, writer.length);
  writer.length += value.length;
}

/** What `write` adds, behind its length. */
export function writeWithin(writer: Writer, write: () => void): void {
  room(writer, 1);
  const start = ++writer.length;
  write();
  const length = writer.length - start;
  if (length < 0x80) {
    writer.bytes[start - 1] = length;
    return;
  }
  // The length needs more than the one byte that was left for it.
  const body = Buffer.from(writer.bytes.subarray(start, writer.length));
  writer.length = start - 1;
  writeBytes(writer, body);
}

function room(writer: Writer, more: number): void {
  if (writer.length + more <= writer.bytes.length) return;
  const bytes = Buffer.allocUnsafe(Math.max(writer.bytes.length * 2, writer.length + more));
  writer.bytes.copy(bytes, 0, 0, writer.length);
  writer.bytes = bytes;
}

const TWO_32 = 2 ** 32;
