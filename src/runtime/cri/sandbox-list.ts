import type { Observable } from 'rxjs';
import type { ListPodSandboxRequest, ListPodSandboxResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the sandboxes that match the filter, all of them without one. */
export function sandboxList(
  { runtime, deadlines }: Connection,
  request: ListPodSandboxRequest,
): Observable<ListPodSandboxResponse> {
  return callUnary(runtime.client, runtime.methods.ListPodSandbox, request, deadlines.usual);
}
