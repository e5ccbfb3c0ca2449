import type { Observable } from 'rxjs';
import type { VersionResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the names and versions of the runtime. */
export function runtimeVersion({ runtime, deadlines }: Connection): Observable<VersionResponse> {
  return callUnary(runtime.client, runtime.methods.Version, {}, deadlines.usual);
}
