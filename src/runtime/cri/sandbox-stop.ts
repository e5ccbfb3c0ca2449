import { map, type Observable } from 'rxjs';
import type { StopPodSandboxRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Stops a sandbox with all that runs in it; emits `undefined` when it has stopped. */
export function sandboxStop({ runtime, deadlines }: Connection, request: StopPodSandboxRequest): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.StopPodSandbox, request, deadlines.usual).pipe(map(() => undefined));
}
