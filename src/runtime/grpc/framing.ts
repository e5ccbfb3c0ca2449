import { Buffer } from 'node:buffer';
import { GrpcError } from './grpc-status.ts';

/** Every message follows one byte, 0 for "not compressed", and its length in four. */
const PREFIX = 5;

export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX);
  return frame;
}

/**
 * Takes a stream of bytes as it comes and gives back the messages that are whole by then. Throws a `GrpcError` at a
 * message longer than `longest` bytes, before it is kept, and at a compressed one, which was not asked for.
 */
export function unframer(longest: number): (chunk: Buffer) => readonly Buffer[] {
  let parts: Buffer[] = [];
  let length = 0;

  /** The first bytes that wait, in one piece. */
  function joined(): Buffer {
    const [first] = parts;
    if (first && parts.length === 1) return first;
    const whole = Buffer.concat(parts, length);
    parts = [whole];
    return whole;
  }

  function nextLength(): number | undefined {
    if (length < PREFIX) return undefined;
    if ((parts[0]?.length ?? 0) < PREFIX) joined();
    const head = parts[0] ?? Buffer.alloc(PREFIX);
    if (head[0] !== 0) throw new GrpcError('Unimplemented', 'the message is compressed');
    const size = head.readUInt32BE(1);
    if (size > longest) {
      throw new GrpcError('ResourceExhausted', `received message larger than max (${size} vs. ${longest})`);
    }
    return size;
  }

  return (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    const messages: Buffer[] = [];
    for (let size = nextLength(); size !== undefined && length >= PREFIX + size; size = nextLength()) {
      const bytes = joined();
      messages.push(bytes.subarray(PREFIX, PREFIX + size));
      length -= PREFIX + size;
      parts = length === 0 ? [] : [bytes.subarray(PREFIX + size)];
    }
    return messages;
  };
}
