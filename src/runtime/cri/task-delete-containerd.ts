import { catchError, defer, ignoreElements, of, switchMap, take, throwError, type Observable } from 'rxjs';
import { RuntimeError } from '../../model/errors.ts';
import { callUnary } from './call-unary.ts';
import { channel } from './channel.ts';
import { containerdTasksDescriptor } from './descriptor.ts';
import { CONTAINERD_NAMESPACE } from './events-containerd.ts';
import { servicesIn, type Methods } from './services.ts';

type TasksMethods = Methods<{
  readonly Delete: { readonly request: { readonly containerId: string }; readonly answer: object };
}>;

/** Milliseconds. */
const TIMEOUT = 10_000;

/**
 * Makes containerd forget what ran in a container or sandbox, through its own task service on the same socket: its CRI
 * refuses to remove what has a task that it did not see start, even when that has ended. Completes also where there is
 * no such task, and on other runtimes; errors with a `RuntimeError`, as while a process of the task is left.
 */
export function deleteContainerdTask(endpoint: string, containerId: string): Observable<never> {
  return defer(() => {
    const { Delete } = servicesIn(containerdTasksDescriptor)('containerd.services.tasks.v1.Tasks') as TasksMethods;
    const headers = { 'containerd-namespace': CONTAINERD_NAMESPACE };
    return channel(endpoint).pipe(
      switchMap((client) => callUnary(client, Delete, { containerId }, TIMEOUT, { headers })),
      take(1),
    );
  }).pipe(
    catchError((error: unknown) => {
      const isNothing = error instanceof RuntimeError && (error.kind === 'notFound' || error.kind === 'unimplemented');
      return isNothing ? of(undefined) : throwError(() => error);
    }),
    ignoreElements(),
  );
}
