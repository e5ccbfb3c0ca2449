import type { Observable } from 'rxjs';
import type { ListContainersRequest, ListContainersResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the containers that match the filter, all of them without one. */
export function containerList(
  { runtime, deadlines }: Connection,
  request: ListContainersRequest,
): Observable<ListContainersResponse> {
  return callUnary(runtime.client, runtime.methods.ListContainers, request, deadlines.usual);
}
