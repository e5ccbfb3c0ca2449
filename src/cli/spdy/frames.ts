/**
 * SPDY/3.1 as far as the streaming servers of container runtimes speak it (they all do: it is what the kubelet and
 * kubectl have always spoken to them). Unlike their WebSocket protocols it can tell that one direction of a stream has
 * ended, without which `rxlet exec -i` could not pass on the end of a file.
 */

/** What the other end says. Data comes in as many pieces as it has arrived in. */
export type Frame =
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Buffer; readonly isLast: boolean }
  | { readonly kind: 'reply'; readonly stream: number; readonly isLast: boolean }
  | { readonly kind: 'reset'; readonly stream: number }
  | { readonly kind: 'ping'; readonly id: Buffer };

const HEAD = 8;
const CONTROL = 0x80;
const VERSION = 3;
const [SYN_STREAM, SYN_REPLY, RST_STREAM, PING] = [1, 2, 3, 6] as const;
const FIN = 1;
const CANCEL = 5;
/** Bytes of one frame that is sent; the other end keeps whole frames in memory. */
const MOST_DATA = 256 * 1024;
/** Bytes of a frame without data that are taken. */
const MOST_CONTROL = 64 * 1024;

/** Takes bytes as they arrive, and gives the frames that they complete. Throws where they are no SPDY/3.1. */
export function frameReader(): (chunk: Buffer) => readonly Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  /** The data frame of which more bytes are to come. */
  let open: { readonly stream: number; left: number; readonly isLast: boolean } | undefined;

  function next(): Frame | 'skipped' | undefined {
    if (open) {
      if (rest.length === 0) return undefined;
      const bytes = rest.subarray(0, open.left);
      rest = rest.subarray(bytes.length);
      const { stream, isLast } = open;
      open.left -= bytes.length;
      const ends = open.left === 0;
      if (ends) open = undefined;
      return { kind: 'data', stream, bytes, isLast: ends && isLast };
    }
    if (rest.length < HEAD) return undefined;
    const isLast = ((rest[4] ?? 0) & FIN) !== 0;
    const length = rest.readUIntBE(5, 3);
    if (((rest[0] ?? 0) & CONTROL) === 0) {
      const stream = rest.readUInt32BE(0);
      rest = rest.subarray(HEAD);
      if (length === 0) return { kind: 'data', stream, bytes: rest.subarray(0, 0), isLast };
      open = { stream, left: length, isLast };
      return next();
    }
    if ((rest.readUInt16BE(0) & 0x7fff) !== VERSION || length > MOST_CONTROL)
      throw new Error('the runtime speaks something else than SPDY/3.1');
    if (rest.length < HEAD + length) return undefined;
    const type = rest.readUInt16BE(2);
    const body = rest.subarray(HEAD, HEAD + length);
    rest = rest.subarray(HEAD + length);
    return control(type, body, isLast) ?? 'skipped';
  }

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (let frame = next(); frame !== undefined; frame = next()) if (frame !== 'skipped') frames.push(frame);
    return frames;
  };
}

/** Settings, windows and farewells change nothing here. */
function control(type: number, body: Buffer, isLast: boolean): Frame | undefined {
  if (body.length < 4) return undefined;
  const stream = body.readUInt32BE(0) & 0x7fffffff;
  switch (type) {
    case SYN_REPLY:
      return { kind: 'reply', stream, isLast };
    case RST_STREAM:
      return { kind: 'reset', stream };
    case PING:
      return { kind: 'ping', id: Buffer.from(body.subarray(0, 4)) };
    default:
      return undefined;
  }
}

/** One or more frames that carry these bytes. */
export function dataFrames(stream: number, bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += MOST_DATA) {
    const piece = bytes.subarray(start, start + MOST_DATA);
    parts.push(headOf(stream, 0, piece.length), piece);
  }
  return Buffer.concat(parts);
}

/** Nothing more comes on this stream. */
export function endFrame(stream: number): Buffer {
  return headOf(stream, FIN, 0);
}

/** Nobody wants to hear more of this stream. */
export function resetFrame(stream: number): Buffer {
  return controlFrame(RST_STREAM, Buffer.concat([uint32(stream), uint32(CANCEL)]));
}

export function pingFrame(id: Buffer): Buffer {
  return controlFrame(PING, id);
}

/** Opens a stream. `isFirst` of a connection: the compression of headers begins with it. */
export function openFrame(stream: number, headers: Readonly<Record<string, string>>, isFirst: boolean): Buffer {
  const block = Object.entries(headers).flatMap(([name, value]) => [text(name), text(value)]);
  const plain = Buffer.concat([uint32(Object.keys(headers).length), ...block]);
  const fixed = Buffer.concat([uint32(stream), uint32(0), Buffer.alloc(2)]);
  return controlFrame(SYN_STREAM, Buffer.concat([fixed, stored(plain, isFirst)]));
}

/**
 * Headers must be in zlib's format with a preset dictionary, which is named by its checksum. Nothing obliges one to
 * refer to it, or to compress at all, so that the dictionary itself is not needed: RFC 1951 has stored blocks. An empty
 * one at the end makes the reader give out what it has.
 */
function stored(plain: Buffer, isFirst: boolean): Buffer {
  const lengths = Buffer.alloc(4);
  lengths.writeUInt16LE(plain.length, 0);
  lengths.writeUInt16LE(~plain.length & 0xffff, 2);
  return Buffer.concat([isFirst ? WITH_DICTIONARY : NOTHING, STORED, lengths, plain, FLUSH]);
}

const NOTHING = Buffer.alloc(0);
/** Deflate, 32 KiB of window, and the Adler-32 of the dictionary of SPDY/3. */
const WITH_DICTIONARY = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
const STORED = Buffer.from([0]);
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

function controlFrame(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  head.writeUInt16BE(0x8000 | VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}

function headOf(stream: number, flags: number, length: number): Buffer {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(stream, 0);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(length, 5, 3);
  return head;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
