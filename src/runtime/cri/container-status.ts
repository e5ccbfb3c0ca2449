import type { Observable } from 'rxjs';
import type { ContainerStatusRequest, ContainerStatusResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits one container in full. */
export function containerStatus(
  { runtime, deadlines }: Connection,
  request: ContainerStatusRequest,
): Observable<ContainerStatusResponse> {
  return callUnary(runtime.client, runtime.methods.ContainerStatus, request, deadlines.usual);
}
