import type { Buffer } from 'node:buffer';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { failureIn, type AnswerHeaders } from './answer-status.ts';
import { framed, unframer } from './framing.ts';
import { GrpcError } from './grpc-status.ts';

export interface Call {
  /** As `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  readonly message: Uint8Array;
  /** Milliseconds; the server is told, so that it gives up as well. Without it the call may last for ever. */
  readonly timeout?: number | undefined;
  /** Sent beside gRPC's own, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onMessage: (message: Buffer) => void;
  /** Called once, as the last thing; without an error when the server ended the call with OK. */
  readonly onEnd: (error?: GrpcError) => void;
}

export interface GrpcClient {
  /** Sends one message, and gives back how to cancel the call; a cancelled call says nothing more. Throws once closed. */
  readonly call: (call: Call) => () => void;
  /** Refuses new calls; those in flight may end. */
  readonly close: () => void;
}

/** Bytes of one message, and of what a connection may have under way. */
const LARGEST_MESSAGE = 16 * 1024 * 1024;
const WINDOW = 1024 * 1024;

/** Milliseconds for which a server that could not be reached is left alone: growing, as the kubelet's client does. */
const RETRY = { floor: 100, factor: 1.6, ceiling: 3_000 };

/**
 * Calls to one gRPC server on a unix socket of this machine, over one connection, on Node's own HTTP/2: no TLS, no
 * proxies, no name resolution, no compression, one request message per call. It connects at the first call, and after
 * a loss at the next; while the server cannot be reached calls fail at once, and it is tried again after 100 ms to 3 s.
 */
export function grpcClient(socketPath: string): GrpcClient {
  let session: ClientHttp2Session | undefined;
  let isClosed = false;
  let lastLoss: { readonly why: string; readonly wait: number; readonly until: number } | undefined;

  /** The connection that calls go over, or why there is none. */
  function connected(): ClientHttp2Session | GrpcError {
    if (isClosed) throw new Error('the channel has been closed');
    if (session) return session;
    if (lastLoss && Date.now() < lastLoss.until) return new GrpcError('Unavailable', lastLoss.why);

    const fresh = connect('http://localhost', {
      createConnection: () => connectSocket(socketPath),
      settings: { enablePush: false, initialWindowSize: WINDOW },
    });
    session = fresh;
    let why = 'the connection was closed';
    let wasReached = false;
    fresh.once('remoteSettings', () => {
      wasReached = true;
      lastLoss = undefined;
      fresh.setLocalWindowSize(4 * WINDOW);
    });
    fresh.on('error', (error: Error) => {
      why = error.message;
    });
    // The server is on its way down, or wants a new connection: what is in flight may end, the next call goes elsewhere.
    fresh.once('goaway', () => {
      if (session === fresh) session = undefined;
    });
    fresh.once('close', () => {
      if (session === fresh) session = undefined;
      if (wasReached) return;
      const wait = Math.min(lastLoss ? lastLoss.wait * RETRY.factor : RETRY.floor, RETRY.ceiling);
      lastLoss = { why: `no connection to ${socketPath}: ${why}`, wait, until: Date.now() + wait };
    });
    return fresh;
  }

  return {
    call: (call) => {
      const over = connected();
      if (over instanceof GrpcError) return failed(call, over);
      return exchange(over, socketPath, call);
    },
    close: () => {
      isClosed = true;
      session?.close();
    },
  };
}

/** Told later, as every other end: whoever calls has not got hold of the call yet. */
function failed({ onEnd }: Call, error: GrpcError): () => void {
  let isCancelled = false;
  queueMicrotask(() => {
    if (!isCancelled) onEnd(error);
  });
  return () => {
    isCancelled = true;
  };
}

function exchange(session: ClientHttp2Session, socketPath: string, call: Call): () => void {
  const { path, message, timeout, headers: sent = {}, onMessage, onEnd } = call;
  const take = unframer(LARGEST_MESSAGE);
  let headers: AnswerHeaders = {};
  let isOver = false;
  let loss: Error | undefined;

  const stream = session.request({
    ...sent,
    ':method': 'POST',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'rxlet',
    ...(timeout === undefined ? {} : { 'grpc-timeout': grpcTimeout(timeout) }),
  });
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          giveUp(new GrpcError('DeadlineExceeded', `Deadline exceeded after ${timeout / 1_000}s`));
        }, timeout);

  function end(error?: GrpcError): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    onEnd(error);
  }

  function giveUp(error: GrpcError): void {
    end(error);
    stream.close(constants.NGHTTP2_CANCEL);
  }

  const note = (more: AnswerHeaders): void => {
    headers = { ...headers, ...more };
  };
  stream.on('response', note);
  stream.on('trailers', note);
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    try {
      for (const whole of take(chunk)) onMessage(whole);
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      giveUp(error);
    }
  });
  stream.on('error', (error: Error) => {
    loss = error;
  });
  stream.once('close', () => {
    end('grpc-status' in headers || ':status' in headers ? cut(headers, loss, stream.rstCode) : lost(socketPath, loss));
  });
  stream.end(framed(message));

  return () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    stream.close(constants.NGHTTP2_CANCEL);
  };
}

/** A call that ends without a status after its answer had begun was cut. */
function cut(headers: AnswerHeaders, loss: Error | undefined, rstCode: number | undefined): GrpcError | undefined {
  if ('grpc-status' in headers) return failureIn(headers);
  const isCut = loss !== undefined || (rstCode !== undefined && rstCode !== constants.NGHTTP2_NO_ERROR);
  const isFine = headers[':status'] === constants.HTTP_STATUS_OK;
  return isCut || isFine ? new GrpcError('Unavailable', loss?.message ?? 'the call was cut') : failureIn(headers);
}

function lost(socketPath: string, loss: Error | undefined): GrpcError {
  return new GrpcError('Unavailable', `no answer from ${socketPath}: ${loss?.message ?? 'the connection was closed'}`);
}

/** At most eight digits and a unit (gRPC over HTTP/2). */
function grpcTimeout(milliseconds: number): string {
  return milliseconds < 1e8 ? `${Math.ceil(milliseconds)}m` : `${Math.ceil(milliseconds / 1_000)}S`;
}
