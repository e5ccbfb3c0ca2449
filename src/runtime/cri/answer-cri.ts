import { catchError, EMPTY, finalize, ignoreElements, takeUntil, tap, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { IncomingCall } from '../grpc/grpc-server.ts';
import { GrpcError } from '../grpc/grpc-status.ts';
import { grpcError } from './grpc-error.ts';
import type { CriCalls } from './cri-calls.ts';
import { criServices, type Method } from './services.ts';

type Handler = (call: IncomingCall) => Observable<never>;

/**
 * Answers the calls of a client with a runtime of ours. Each call is an Observable that emits nothing and completes
 * when the call is over, and never errors; what a call asked for is given up when nobody waits for it any more.
 */
export function answerCri({ runtime, image }: CriCalls): Handler {
  const services = criServices();
  const handlers = new Map<string, Handler>([...tableOf(services.runtime, runtime), ...tableOf(services.image, image)]);
  return (call) => (handlers.get(call.path) ?? unknown)(call);
}

type Perform = (request: object) => Observable<object | undefined>;

function tableOf(methods: object, calls: object): readonly (readonly [string, Handler])[] {
  const performs = calls as Readonly<Record<string, Perform>>;
  return Object.entries(methods as Readonly<Record<string, Method<object, object>>>).flatMap(([name, method]) => {
    return name in performs
      ? [[method.path, (call: IncomingCall) => handle(call, method, performs[name])] as const]
      : [];
  });
}

function handle(
  { message, over$, answer, end }: IncomingCall,
  { requestDeserialize, responseSerialize }: Method<object, object>,
  perform: Perform = () => EMPTY,
): Observable<never> {
  let request: object;
  try {
    request = requestDeserialize(message);
  } catch (error) {
    end(new GrpcError('Internal', `the request cannot be decoded: ${messageOf(error)}`));
    return EMPTY;
  }
  return perform(request).pipe(
    tap((value) => {
      answer(responseSerialize(value ?? {}));
    }),
    catchError((error: unknown) => {
      end(grpcError(error));
      return EMPTY;
    }),
    ignoreElements(),
    finalize(() => {
      end();
    }),
    takeUntil(over$),
  );
}

function unknown({ path, end }: IncomingCall): Observable<never> {
  const [, service = '', method = ''] = path.split('/');
  end(new GrpcError('Unimplemented', `unknown method ${method} for service ${service}`));
  return EMPTY;
}
