import { map, type Observable } from 'rxjs';
import type { ReopenContainerLogRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Has the runtime open the log anew, after a rotation; emits `undefined` when it has. */
export function containerReopenLog(
  { runtime, deadlines }: Connection,
  request: ReopenContainerLogRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.ReopenContainerLog, request, deadlines.usual).pipe(
    map(() => undefined),
  );
}
