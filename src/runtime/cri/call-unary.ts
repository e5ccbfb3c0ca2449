import { catchError, Observable } from 'rxjs';
import type { GrpcClient } from '../grpc/grpc-client.ts';
import { GrpcError } from '../grpc/grpc-status.ts';
import { timeLimit } from './deadlines.ts';
import { runtimeError } from './runtime-error.ts';
import type { Method } from './services.ts';

interface CallOptions {
  /** Whether the server goes on with a call to which nobody listens any more. */
  readonly whenLeft?: 'cancel' | 'letEnd';
  /** Sent along, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Makes one call: subscribing sends the request, the answer is emitted once, then it completes.
 * Unsubscribing cancels the call at the server, unless `whenLeft` lets it end unheard. Errors with a
 * `RuntimeError`, of kind `deadline` when no answer came within `timeout` milliseconds; `undefined` waits without limit.
 */
export function callUnary<Request, Answer>(
  client: GrpcClient,
  method: Method<Request, Answer>,
  request: Request,
  timeout: number | undefined,
  { whenLeft = 'cancel', headers = {} }: CallOptions = {},
): Observable<Answer> {
  return new Observable<Answer>((subscriber) => {
    let answer: Answer | undefined;
    const cancel = client.call({
      path: method.path,
      message: method.requestSerialize(request),
      timeout: timeLimit(timeout),
      headers,
      onMessage: (message) => {
        answer = method.responseDeserialize(message);
      },
      onEnd: (error) => {
        if (error) subscriber.error(error);
        else if (answer === undefined) subscriber.error(new GrpcError('Internal', 'the call ended without an answer'));
        else {
          subscriber.next(answer);
          subscriber.complete();
        }
      },
    });
    return () => {
      if (whenLeft === 'cancel') cancel();
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
