import type { Observable } from 'rxjs';
import type { CreateContainerRequest, CreateContainerResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Makes a container in a sandbox; emits its id. It does not run yet. */
export function containerCreate(
  { runtime, deadlines }: Connection,
  request: CreateContainerRequest,
): Observable<CreateContainerResponse> {
  return callUnary(runtime.client, runtime.methods.CreateContainer, request, deadlines.usual);
}
