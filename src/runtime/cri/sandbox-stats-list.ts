import type { Observable } from 'rxjs';
import type { ListPodSandboxStatsResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits what every sandbox uses, its containers among it. */
export function sandboxStatsList({ runtime, deadlines }: Connection): Observable<ListPodSandboxStatsResponse> {
  return callUnary(runtime.client, runtime.methods.ListPodSandboxStats, {}, deadlines.usual);
}
