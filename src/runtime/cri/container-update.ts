import { map, type Observable } from 'rxjs';
import type { UpdateContainerResourcesRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Changes the limits of a container in place; emits `undefined` when they hold. */
export function containerUpdate(
  { runtime, deadlines }: Connection,
  request: UpdateContainerResourcesRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.UpdateContainerResources, request, deadlines.usual).pipe(
    map(() => undefined),
  );
}
