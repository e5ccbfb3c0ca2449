import { Buffer } from 'node:buffer';
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { Observable } from 'rxjs';
import { textOf, type Address } from './address.ts';
import { LONGEST_OUTPUT, USER_AGENT } from './answers.ts';

/** How a call ended: a gRPC status by number, and the message of the server where it is 0. */
export interface GrpcAnswer {
  readonly status: number;
  readonly details: string;
  readonly message: Uint8Array;
}

/**
 * Emits a connection once the server has introduced itself, and holds it; errors when it breaks. Unsubscribing closes
 * it, whatever state it is in. (A channel of grpc-js that is closed while its server stays silent leaks the socket.)
 */
export function grpcSession(address: Address): Observable<ClientHttp2Session> {
  return new Observable((subscriber) => {
    const session = connect(`http://${textOf(address)}`);
    session.once('remoteSettings', () => {
      subscriber.next(session);
    });
    session.on('error', (error) => {
      subscriber.error(error);
    });
    session.once('close', () => {
      subscriber.error(new Error('the server closed the connection'));
    });
    return () => {
      session.destroy();
    };
  });
}

/** Sends one message and emits the answer, whatever its status. Unsubscribing cancels the call at the server. */
export function grpcCall(session: ClientHttp2Session, path: string, message: Uint8Array): Observable<GrpcAnswer> {
  return new Observable((subscriber) => {
    let headers: IncomingHttpHeaders & { readonly ':status'?: number } = {};
    const parts: Buffer[] = [];
    let length = 0;
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': USER_AGENT,
    });
    const note = (more: IncomingHttpHeaders): void => {
      headers = { ...headers, ...more };
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (part: Buffer) => {
      length += part.length;
      if (length > LONGEST_OUTPUT) subscriber.error(new Error('the answer is too long for a health check'));
      else parts.push(part);
    });
    stream.on('error', (error) => {
      subscriber.error(error);
    });
    stream.once('close', () => {
      subscriber.next(answerOf(headers, Buffer.concat(parts).subarray(PREFIX)));
      subscriber.complete();
    });
    stream.end(framed(message));
    return () => {
      stream.close(constants.NGHTTP2_CANCEL);
    };
  });
}

/** Every message follows one byte, 0 for "not compressed", and its length in four. */
const PREFIX = 5;

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function answerOf(headers: IncomingHttpHeaders & { readonly ':status'?: number }, message: Uint8Array): GrpcAnswer {
  const { 'grpc-status': status, 'grpc-message': text, ':status': http } = headers;
  if (typeof status === 'string') {
    return { status: Number(status), details: decoded(typeof text === 'string' ? text : ''), message };
  }
  const details = `unexpected HTTP status code received from server: ${http ?? 'none'}`;
  return { status: http === constants.HTTP_STATUS_NOT_FOUND ? UNIMPLEMENTED : UNKNOWN, details, message };
}

/** Numbers of gRPC. */
export const UNIMPLEMENTED = 12;
const UNKNOWN = 2;

/** A message in a header is percent-encoded; one that is not well encoded is shown as it came. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
