import type { Observable } from 'rxjs';
import type { ListContainerStatsResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits what every container uses. */
export function containerStatsList({ runtime, deadlines }: Connection): Observable<ListContainerStatsResponse> {
  return callUnary(runtime.client, runtime.methods.ListContainerStats, {}, deadlines.usual);
}
