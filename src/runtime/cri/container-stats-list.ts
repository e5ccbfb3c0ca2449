import type { Observable } from 'rxjs';
import type { ListContainerStatsRequest, ListContainerStatsResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits what containers use; every one, unless asked for some. */
export function containerStatsList(
  { runtime, deadlines }: Connection,
  request: ListContainerStatsRequest = {},
): Observable<ListContainerStatsResponse> {
  return callUnary(runtime.client, runtime.methods.ListContainerStats, request, deadlines.usual);
}
