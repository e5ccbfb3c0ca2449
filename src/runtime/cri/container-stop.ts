import { map, type Observable } from 'rxjs';
import type { StopContainerRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Asks a container to end and ends it by force after `timeout` seconds; emits `undefined` when it has ended. */
export function containerStop(
  { runtime, deadlines }: Connection,
  request: StopContainerRequest,
): Observable<undefined> {
  return callUnary(
    runtime.client,
    runtime.methods.StopContainer,
    request,
    deadlines.stopContainer(request.timeout ?? 0),
  ).pipe(map(() => undefined));
}
