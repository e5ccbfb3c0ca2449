import { Metadata, type Client } from '@grpc/grpc-js';
import { catchError, Observable } from 'rxjs';
import { deadlineIn } from './deadlines.ts';
import { runtimeError } from './runtime-error.ts';
import type { Method } from './services.ts';

/**
 * Makes one call: subscribing sends the request, the answer is emitted once, then it completes.
 * Unsubscribing cancels the call at the server, unless `whenLeft` lets it end unheard. Errors with a `RuntimeError`, of kind `deadline` when no answer
 * came within `timeout` milliseconds; `undefined` waits without limit.
 */
export function callUnary<Request, Answer>(
  client: Client,
  method: Method<Request, Answer>,
  request: Request,
  timeout: number | undefined,
  whenLeft: 'cancel' | 'letEnd' = 'cancel',
): Observable<Answer> {
  return new Observable<Answer>((subscriber) => {
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
      deadlineIn(timeout),
      (error, answer) => {
        if (error) {
          subscriber.error(error);
        } else if (answer !== undefined) {
          subscriber.next(answer);
          subscriber.complete();
        }
      },
    );
    return () => {
      if (whenLeft === 'cancel') call.cancel();
    };
  }).pipe(
    catchError((error: unknown) => {
      throw runtimeError(error, callName(method));
    }),
  );
}

/** Last part of `/runtime.v1.RuntimeService/RunPodSandbox`. */
export function callName({ path }: Pick<Method<never, never>, 'path'>): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
