import { map, type Observable } from 'rxjs';
import type { StartContainerRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Starts a container; emits `undefined` when its process runs. */
export function containerStart(
  { runtime, deadlines }: Connection,
  request: StartContainerRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.StartContainer, request, deadlines.usual).pipe(map(() => undefined));
}
