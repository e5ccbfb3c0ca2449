import type { Observable } from 'rxjs';
import type { ExecRequest, ExecResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Asks where a command in a container can be talked to; it begins when somebody goes there. */
export function containerExecStream(
  { runtime, deadlines }: Connection,
  request: ExecRequest,
): Observable<ExecResponse> {
  return callUnary(runtime.client, runtime.methods.Exec, request, deadlines.usual);
}
