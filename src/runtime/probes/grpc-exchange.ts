import type { Buffer } from 'node:buffer';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { Observable } from 'rxjs';
import { failureIn, type AnswerHeaders } from '../grpc/answer-status.ts';
import { framed, unframer } from '../grpc/framing.ts';
import type { GrpcError } from '../grpc/grpc-status.ts';
import { textOf, type Address } from './address.ts';
import { LONGEST_OUTPUT, USER_AGENT } from './answers.ts';

/** How a call ended: what went wrong, or the message of the server. */
export interface GrpcAnswer {
  readonly failure: GrpcError | undefined;
  readonly message: Uint8Array;
}

/**
 * Emits a connection once the server has introduced itself, and holds it; errors when it breaks. Unsubscribing closes
 * it, whatever state it is in.
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
export function grpcCall(session: ClientHttp2Session, path: string, request: Uint8Array): Observable<GrpcAnswer> {
  return new Observable((subscriber) => {
    let headers: AnswerHeaders = {};
    const take = unframer(LONGEST_OUTPUT);
    let message: Uint8Array = new Uint8Array();
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': USER_AGENT,
    });
    const note = (more: AnswerHeaders): void => {
      headers = { ...headers, ...more };
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const whole of take(chunk)) message = whole;
      } catch (error) {
        subscriber.error(error);
      }
    });
    stream.on('error', (error) => {
      subscriber.error(error);
    });
    stream.once('close', () => {
      subscriber.next({ failure: failureIn(headers), message });
      subscriber.complete();
    });
    stream.end(framed(request));
    return () => {
      stream.close(constants.NGHTTP2_CANCEL);
    };
  });
}
