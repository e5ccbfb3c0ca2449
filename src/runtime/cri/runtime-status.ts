import type { Observable } from 'rxjs';
import type { StatusRequest, StatusResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the conditions of the runtime, as `NetworkReady`. */
export function runtimeStatus({ runtime, deadlines }: Connection, request: StatusRequest): Observable<StatusResponse> {
  return callUnary(runtime.client, runtime.methods.Status, request, deadlines.usual);
}
