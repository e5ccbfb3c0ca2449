import type { Observable } from 'rxjs';
import type { RuntimeConfigResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the cgroup driver of the runtime; errors with kind `unimplemented` before containerd 2. */
export function runtimeConfig({ runtime, deadlines }: Connection): Observable<RuntimeConfigResponse> {
  return callUnary(runtime.client, runtime.methods.RuntimeConfig, {}, deadlines.usual);
}
