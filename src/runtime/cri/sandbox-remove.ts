import { map, type Observable } from 'rxjs';
import type { RemovePodSandboxRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Removes a sandbox with all that is in it; emits `undefined` when it is gone. */
export function sandboxRemove(
  { runtime, deadlines }: Connection,
  request: RemovePodSandboxRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.RemovePodSandbox, request, deadlines.usual).pipe(
    map(() => undefined),
  );
}
