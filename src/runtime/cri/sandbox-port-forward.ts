import type { Observable } from 'rxjs';
import type { PortForwardRequest, PortForwardResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Asks where ports of a sandbox can be reached. */
export function sandboxPortForward(
  { runtime, deadlines }: Connection,
  request: PortForwardRequest,
): Observable<PortForwardResponse> {
  return callUnary(runtime.client, runtime.methods.PortForward, request, deadlines.usual);
}
