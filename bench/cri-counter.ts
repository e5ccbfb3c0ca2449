import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';

export interface CountedCall {
  /** As `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A socket before that of a runtime: passes every call on and notes it. */
export interface CriCounter {
  readonly calls: () => readonly CountedCall[];
  readonly close: () => void;
}

/** Bytes that one connection may have under way, so that a large listing is not slowed down. */
const WINDOW = 16 * 1024 * 1024;

/** Resolves when it listens. */
export async function criCounter(listenOn: string, runtimeSocket: string): Promise<CriCounter> {
  const calls: CountedCall[] = [];
  const settings = { initialWindowSize: WINDOW, enablePush: false };
  const sessions = new Set<Http2Session>();
  const server = createServer({ settings });

  server.on('session', (session) => {
    const upstream = connect('http://localhost', { createConnection: () => connectSocket(runtimeSocket), settings });
    for (const each of [session, upstream]) {
      sessions.add(each);
      each.on('error', () => undefined);
      each.on('close', () => {
        sessions.delete(each);
        session.destroy();
        upstream.destroy();
      });
    }
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      calls.push({ path: headers[':path'] ?? '', at: Date.now() });
      passOn(stream, headers, upstream);
    });
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(listenOn, done);
  });
  return {
    calls: () => calls,
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

function passOn(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session): void {
  if (upstream.destroyed) {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return;
  }
  const call = upstream.request(headers);
  let trailers: IncomingHttpHeaders = {};
  call.on('response', (answer, flags) => {
    const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(answer, { endStream: isAll, waitForTrailers: !isAll });
  });
  call.on('trailers', (received: IncomingHttpHeaders) => {
    trailers = received;
  });
  stream.on('wantTrailers', () => {
    stream.sendTrailers(trailers);
  });
  call.on('error', () => {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  });
  stream.on('error', () => undefined);
  // Either side may give up.
  stream.on('close', () => {
    call.close(constants.NGHTTP2_CANCEL);
  });
  stream.pipe(call);
  call.pipe(stream);
}
