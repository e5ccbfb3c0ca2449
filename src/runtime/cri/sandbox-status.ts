import type { Observable } from 'rxjs';
import type { PodSandboxStatusRequest, PodSandboxStatusResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits one sandbox in full, with its addresses. */
export function sandboxStatus(
  { runtime, deadlines }: Connection,
  request: PodSandboxStatusRequest,
): Observable<PodSandboxStatusResponse> {
  return callUnary(runtime.client, runtime.methods.PodSandboxStatus, request, deadlines.usual);
}
