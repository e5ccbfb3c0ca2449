import type { Observable } from 'rxjs';
import type { RunPodSandboxRequest, RunPodSandboxResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Makes and starts a sandbox; emits its id when it is ready. */
export function sandboxRun(
  { runtime, deadlines }: Connection,
  request: RunPodSandboxRequest,
): Observable<RunPodSandboxResponse> {
  return callUnary(runtime.client, runtime.methods.RunPodSandbox, request, deadlines.runPodSandbox);
}
