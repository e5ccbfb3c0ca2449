import { catchError, Observable } from 'rxjs';
import { RuntimeError } from '../../model/errors.ts';
import type { GrpcClient } from '../grpc/grpc-client.ts';
import { callName } from './call-unary.ts';
import { runtimeError } from './runtime-error.ts';
import type { Method } from './services.ts';

/**
 * Listens to a call whose answers never end: subscribing sends the request, each answer is emitted, unsubscribing
 * cancels. Never completes: errors with a `RuntimeError` when the stream is cut, also when the server ends it politely,
 * for whoever listens misses news from then on.
 */
export function callStream<Request, Answer>(
  client: GrpcClient,
  method: Method<Request, Answer>,
  request: Request,
): Observable<Answer> {
  return new Observable<Answer>((subscriber) => {
    return client.call({
      path: method.path,
      message: method.requestSerialize(request),
      onMessage: (message) => {
        subscriber.next(method.responseDeserialize(message));
      },
      onEnd: (error) => {
        subscriber.error(error ?? new RuntimeError('unavailable', callName(method), 'the runtime ended the stream'));
      },
    });
  }).pipe(
    catchError((error: unknown) => {
      throw runtimeError(error, callName(method));
    }),
  );
}
