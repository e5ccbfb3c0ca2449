import { map, type Observable } from 'rxjs';
import type { StartContainerRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/**
 * Starts a container; emits `undefined` when its process runs.
 *
 * Unsubscribing does not cancel the call: containerd 2 that is cut short in it keeps a task of which its CRI knows
 * nothing, and then never removes the container. Whoever comes next finds it started, and ends it if need be.
 */
export function containerStart(
  { runtime, deadlines }: Connection,
  request: StartContainerRequest,
): Observable<undefined> {
  return callUnary(runtime.client, runtime.methods.StartContainer, request, deadlines.usual, {
    whenLeft: 'letEnd',
  }).pipe(map(() => undefined));
}
