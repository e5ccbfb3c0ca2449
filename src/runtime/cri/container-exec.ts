import type { Observable } from 'rxjs';
import type { ExecSyncRequest, ExecSyncResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Runs a command in a container; emits output and exit code when it has ended, errors with kind `deadline` when it ran out of time. */
export function containerExec(
  { runtime, deadlines }: Connection,
  request: ExecSyncRequest,
): Observable<ExecSyncResponse> {
  return callUnary(runtime.client, runtime.methods.ExecSync, request, deadlines.execSync(request.timeout ?? 0));
}
