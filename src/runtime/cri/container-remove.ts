import { map, type Observable } from 'rxjs';
import type { RemoveContainerRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Removes a container, running or not; emits `undefined` when it is gone. */
export function containerRemove(
  { runtime, deadlines }: Connection,
  request: RemoveContainerRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.RemoveContainer, request, deadlines.usual).pipe(
    map(() => undefined),
  );
}
