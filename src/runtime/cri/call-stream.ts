import { Metadata, type Client } from '@grpc/grpc-js';
import { catchError, Observable } from 'rxjs';
import { RuntimeError } from '../../model/errors.ts';
import { callName } from './call-unary.ts';
import { runtimeError } from './runtime-error.ts';
import type { Method } from './services.ts';

/**
 * Listens to a call whose answers never end: subscribing sends the request, each answer is emitted, unsubscribing
 * cancels. Never completes: errors with a `RuntimeError` when the stream is cut, also when the server ends it politely,
 * for whoever listens misses news from then on.
 */
export function callStream<Request, Answer>(
  client: Client,
  method: Method<Request, Answer>,
  request: Request,
): Observable<Answer> {
  return new Observable<Answer>((subscriber) => {
    const call = client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
    );
    call.on('data', (answer: Answer) => {
      subscriber.next(answer);
    });
    call.on('error', (error: unknown) => {
      subscriber.error(error);
    });
    call.on('end', () => {
      subscriber.error(new RuntimeError('unavailable', callName(method), 'the runtime ended the stream'));
    });
    return () => {
      call.cancel();
    };
  }).pipe(
    catchError((error: unknown) => {
      throw runtimeError(error, callName(method));
    }),
  );
}
