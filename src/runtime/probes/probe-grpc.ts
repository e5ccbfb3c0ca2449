import { Buffer } from 'node:buffer';
import { catchError, defer, map, of, retry, switchMap, tap, throwError, timeout, timer, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { formatGoDuration } from '../../model/restart/backoff.ts';
import type { ProbeAnswer } from '../../streams/probes/probe.ts';
import { servicesIn, type Methods } from '../cri/services.ts';
import { textOf, type Address } from './address.ts';
import { failure, success } from './answers.ts';
import { grpcCall, grpcSession, type GrpcAnswer } from './grpc-exchange.ts';
import { healthDescriptor } from './health-descriptor.ts';
import { isOurOwn } from './network-error.ts';

/**
 * Asks a server for its health (grpc.health.v1), without TLS, over a connection of its own. Only SERVING is success.
 * Within `limit` milliseconds it keeps trying to connect. Errors only when this machine could not ask.
 */
export function probeGrpc(address: Address, service: string, limit: number): Observable<ProbeAnswer> {
  return defer(() => {
    const { path, requestSerialize } = checkMethod();
    const within = formatGoDuration(limit);
    const server = JSON.stringify(textOf(address));
    let isConnected = false;

    return grpcSession(address).pipe(
      tap(() => {
        isConnected = true;
      }),
      switchMap((session) => grpcCall(session, path, requestSerialize({ service }))),
      retry({
        delay: (error, tries) =>
          isConnected || isOurOwn(error) ? throwError(() => error as unknown) : timer(wait(tries)),
      }),
      map(judge),
      catchError((error: unknown) =>
        isOurOwn(error) ? throwError(() => error) : of(failed('Unavailable', messageOf(error))),
      ),
      timeout({
        first: limit,
        with: () =>
          of(
            failure(
              isConnected
                ? `timeout: health rpc did not complete within ${within}`
                : `timeout: failed to connect service ${server} within ${within}: context deadline exceeded`,
            ),
          ),
      }),
    );
  });
}

/** Milliseconds before the next attempt to connect. */
function wait(tries: number): number {
  return Math.min(1_000, 50 * 2 ** tries);
}

function judge({ failure: why, message }: GrpcAnswer): ProbeAnswer {
  if (why?.status === 'Unimplemented') {
    return failure(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${why.message}`,
    );
  }
  if (why) return failed(why.status, why.message);
  const { status: health = 'UNKNOWN' } = checkMethod().responseDeserialize(Buffer.from(message));
  return health === 'SERVING' ? success('service healthy') : failure(`service unhealthy (responded with "${health}")`);
}

function failed(code: string, details: string): ProbeAnswer {
  return failure(`error: health rpc probe failed: rpc error: code = ${code} desc = ${details}`);
}

/** Absent means UNKNOWN. */
interface Health {
  readonly status?: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

type HealthMethods = Methods<{
  readonly Check: { readonly request: { readonly service: string }; readonly answer: Health };
}>;

let method: HealthMethods['Check'] | undefined;

/** Made for the first probe that needs it, and kept: it takes some milliseconds and never changes. */
function checkMethod(): HealthMethods['Check'] {
  method ??= (servicesIn(healthDescriptor)('grpc.health.v1.Health') as HealthMethods).Check;
  return method;
}
