import type { Observable } from 'rxjs';
import type { AttachRequest, AttachResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Asks where the first process of a container can be talked to. */
export function containerAttach(
  { runtime, deadlines }: Connection,
  request: AttachRequest,
): Observable<AttachResponse> {
  return callUnary(runtime.client, runtime.methods.Attach, request, deadlines.usual);
}
