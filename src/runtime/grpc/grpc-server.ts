import { Buffer } from 'node:buffer';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { ReplaySubject, type Observable } from 'rxjs';
import { framed, unframer } from './framing.ts';
import { GRPC_STATUSES, GrpcError } from './grpc-status.ts';

/** A call whose one message has arrived. */
export interface IncomingCall {
  readonly kind: 'call';
  /** As `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  readonly message: Buffer;
  /** Emits once and completes when nobody waits any more: ended, cancelled, its deadline passed, the client gone. */
  readonly over$: Observable<undefined>;
  readonly answer: (message: Uint8Array) => void;
  /** Ends the call, with OK where nothing is told. */
  readonly end: (error?: GrpcError) => void;
}

export interface GrpcServer {
  readonly server: Http2Server;
  readonly hangUp: () => void;
}

/** Bytes of one message, either way, as with containerd; and of what waits for a client that does not read. */
const LARGEST_MESSAGE = 16 * 1024 * 1024;
const MOST_UNREAD = 2 * LARGEST_MESSAGE;

/** Bytes that a client may send before it hears that they were taken; megabytes that one connection may hold. */
const WINDOW = 1024 * 1024;
const SESSION_MEMORY = 64;

/** Longest time a Node timer can wait. */
const LONGEST = 2 ** 31 - 1;

/**
 * The other side of `grpcClient`: calls of one message, answered by one or by many, without TLS and compression. Keeps
 * the deadline of each call itself. Hands on every call that is whole; what is not gRPC, compressed, too large or too
 * late is answered here.
 */
export function grpcServer(next: (call: IncomingCall) => void): GrpcServer {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { initialWindowSize: WINDOW }, maxSessionMemory: SESSION_MEMORY });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', ignore);
    session.once('close', () => sessions.delete(session));
    session.setLocalWindowSize(4 * WINDOW);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', ignore);
    receive(stream, headers, next);
  });
  return {
    server,
    hangUp: () => {
      for (const session of sessions) session.destroy();
    },
  };
}

function receive(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, next: (call: IncomingCall) => void): void {
  const { ':method': method, ':path': path = '', 'content-type': type = '', 'grpc-timeout': timeout } = headers;
  const notGrpc = method !== 'POST' ? 405 : !type.startsWith('application/grpc') ? 415 : undefined;
  if (notGrpc !== undefined) {
    stream.resume();
    stream.respond({ ':status': notGrpc }, { endStream: true });
    return;
  }

  const { over$, answer, end } = answers(stream, typeof timeout === 'string' ? timeout : undefined);
  const encoding = headers['grpc-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    end(new GrpcError('Unimplemented', `no compression is known here, also not ${String(encoding)}`));

  const take = unframer(LARGEST_MESSAGE);
  const messages: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    try {
      messages.push(...take(chunk));
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      end(error);
      stream.removeAllListeners('data').resume();
    }
  });
  stream.once('end', () => {
    const [message, ...more] = messages;
    if (!message || more.length > 0) end(new GrpcError('Internal', 'the call must hold exactly one message'));
    else next({ kind: 'call', path, message, over$, answer, end });
  });
}

/** How one call is answered, and when it is over. */
function answers(
  stream: ServerHttp2Stream,
  timeout: string | undefined,
): Pick<IncomingCall, 'over$' | 'answer' | 'end'> {
  const overs = new ReplaySubject<undefined>(1);
  let isOver = false;
  const limit = timeout === undefined ? undefined : milliseconds(timeout);
  const timer =
    limit === undefined || limit > LONGEST
      ? undefined
      : setTimeout(() => {
          end(new GrpcError('DeadlineExceeded', 'the deadline of the call has passed'));
        }, limit);

  function over(): void {
    isOver = true;
    clearTimeout(timer);
    overs.next(undefined);
    overs.complete();
  }

  function end(error?: GrpcError): void {
    if (isOver) return;
    over();
    if (stream.destroyed) return;
    const status = statusHeaders(error);
    if (!stream.headersSent) {
      stream.respond({ ...HEADERS, ...status }, { endStream: true });
      return;
    }
    // A client that has stopped reading would never come to the trailers.
    if (error && stream.writableLength > 0) {
      stream.close(constants.NGHTTP2_CANCEL);
      return;
    }
    stream.once('wantTrailers', () => {
      stream.sendTrailers(status);
    });
    stream.end();
  }

  stream.once('close', () => {
    if (!isOver) over();
  });

  return {
    over$: overs.asObservable(),
    end,
    answer: (message) => {
      if (isOver || stream.destroyed) return;
      if (message.length > LARGEST_MESSAGE) {
        const sizes = `${message.length} vs. ${LARGEST_MESSAGE}`;
        end(new GrpcError('ResourceExhausted', `trying to send message larger than max (${sizes})`));
        return;
      }
      if (!stream.headersSent) stream.respond(HEADERS, { waitForTrailers: true });
      stream.write(framed(message));
      if (stream.writableLength > MOST_UNREAD) end(new GrpcError('ResourceExhausted', 'the client does not read'));
    },
  };
}

const HEADERS: OutgoingHttpHeaders = {
  ':status': constants.HTTP_STATUS_OK,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity',
};

function statusHeaders(error: GrpcError | undefined): OutgoingHttpHeaders {
  const code = error ? GRPC_STATUSES.indexOf(error.status) : 0;
  return { 'grpc-status': String(code), ...(error ? { 'grpc-message': encoded(error.message) } : {}) };
}

/** Percent-encoded but for what is printable in ASCII (gRPC over HTTP/2). */
function encoded(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

/** Of `200m`; what cannot be read is no limit. */
function milliseconds(timeout: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(timeout) ?? [];
  const scale = UNITS[unit];
  return digits === undefined || scale === undefined ? undefined : Number(digits) * scale;
}

const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

function ignore(): void {
  // A client that goes away in the middle is its own affair; 'close' ends the call.
}
