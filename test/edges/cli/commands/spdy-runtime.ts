import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { dataFrames, endFrame, pingFrame, resetFrame } from '../../../../src/cli/spdy/frames.ts';

/** A stream that a client has opened, at the end of the runtime. */
export interface OpenedStream {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the client has sent so far. */
  readonly heard: () => string;
  readonly hasEnded: () => boolean;
  readonly reply: () => void;
  readonly say: (text: string | Buffer) => boolean;
  readonly end: () => void;
  readonly reset: () => void;
}

/** The streaming server of a container runtime, as far as it speaks SPDY/3.1; a test says what it says. */
export interface SpdyRuntime {
  readonly server: Server;
  readonly connections: readonly Duplex[];
  /** Protocols that clients wanted to speak. */
  readonly protocols: readonly (string | undefined)[];
  readonly streams: readonly OpenedStream[];
  readonly stream: (type: string) => OpenedStream;
  /** Numbers of pings that were answered. */
  readonly pongs: readonly number[];
  readonly ping: (id: number) => void;
}

/** `onStream` hears of each new one; where it is absent each is replied to. */
export function spdyRuntime(
  onStream: (stream: OpenedStream) => void = ({ reply }) => {
    reply();
  },
): SpdyRuntime {
  const connections: Duplex[] = [];
  const protocols: (string | undefined)[] = [];
  const streams: OpenedStream[] = [];
  const pongs: number[] = [];
  const server = createServer();
  server.on('upgrade', (request, connection, head) => {
    connections.push(connection);
    protocols.push(request.headers['x-stream-protocol-version'] as string | undefined);
    connection.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n');
    connection.on('error', () => undefined);
    const lines = new Map<number, { heard: string; ended: boolean }>();
    let bytes: Buffer = head;
    connection.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let size = sizeOf(bytes); size !== undefined && bytes.length >= size; size = sizeOf(bytes)) {
        hear(bytes.subarray(0, size));
        bytes = bytes.subarray(size);
      }
    });

    function hear(frame: Buffer): void {
      const isControl = ((frame[0] ?? 0) & 0x80) !== 0;
      if (!isControl) {
        const line = lines.get(frame.readUInt32BE(0));
        if (line) line.heard += frame.subarray(8).toString();
        if (line && (frame[4] ?? 0) === 1) line.ended = true;
        return;
      }
      if (frame.readUInt16BE(2) === 6) pongs.push(frame.readUInt32BE(8));
      if (frame.readUInt16BE(2) !== 1) return;
      const id = frame.readUInt32BE(8);
      // After 10 bytes of its own comes zlib's head, once, then a stored block: 1 byte, and 4 of lengths.
      const headers = headersIn(frame.subarray(18 + (lines.size === 0 ? 6 : 0) + 5));
      const line = { heard: '', ended: false };
      lines.set(id, line);
      const stream: OpenedStream = {
        type: headers['streamtype'] ?? '',
        headers,
        heard: () => line.heard,
        hasEnded: () => line.ended,
        reply: () => connection.write(Buffer.concat([Buffer.from([0x80, 3, 0, 2, 0, 0, 0, 4]), numbered(id)])),
        say: (text) => connection.write(dataFrames(id, Buffer.from(text))),
        end: () => connection.write(endFrame(id)),
        reset: () => connection.write(resetFrame(id)),
      };
      streams.push(stream);
      onStream(stream);
    }
  });
  return {
    server,
    connections,
    protocols,
    streams,
    pongs,
    stream(type) {
      const found = streams.find((stream) => stream.type === type);
      if (!found) throw new Error(`no stream ${type} was opened`);
      return found;
    },
    ping: (id) => connections.at(-1)?.write(pingFrame(numbered(id))),
  };
}

function sizeOf(bytes: Buffer): number | undefined {
  return bytes.length < 8 ? undefined : 8 + bytes.readUIntBE(5, 3);
}

function numbered(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(id);
  return bytes;
}

function headersIn(block: Buffer): Readonly<Record<string, string>> {
  let at = 4;
  function word(): string {
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return block.subarray(at - length, at).toString();
  }
  const count = block.readUInt32BE(0);
  return Object.fromEntries(Array.from({ length: count }, () => [word(), word()]));
}
