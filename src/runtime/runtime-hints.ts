import { catchError, defer, filter, map, NEVER, throwError, type Observable } from 'rxjs';
import { RuntimeError } from '../model/errors.ts';
import type { PodUid } from '../model/pod.ts';
import { uidLabel } from '../model/cri/labels.ts';
import { keepAlive } from '../operators/keep-alive.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Observer } from './observe.ts';

/** How long a cut event stream is left alone, in milliseconds. */
const RETRY = { floor: 500, ceiling: 10_000 };

/**
 * The pods of which the runtime says that something happened: by CRI events where it has them, else by its own.
 *
 * ```text
 * CRI events       --e--e--#            cut: listened to again after a while
 * result           --u--u------u--      u: uid of the pod
 *
 * CRI events       #                    unimplemented (containerd 1.6)
 * task events      --t----t-
 * result           --u----u-
 * ```
 *
 * Never errors and never completes. Nothing may depend on it: it only makes the next look come sooner.
 */
export function runtimeHints(
  { containerEvents }: Pick<Cri, 'containerEvents'>,
  taskHints: () => Observable<{ readonly containerId: string }>,
  { ownerOf }: Pick<Observer, 'ownerOf'>,
): Observable<PodUid> {
  const criHint$ = defer(containerEvents).pipe(
    map(({ podSandboxStatus, containerId }) => uidLabel(podSandboxStatus?.labels) ?? ownerOf(containerId ?? '')),
  );
  const taskHint$ = defer(taskHints).pipe(map(({ containerId }) => ownerOf(containerId)));

  return criHint$.pipe(
    instead<PodUid | undefined>(taskHint$.pipe(instead<PodUid | undefined>(NEVER))),
    keepAlive<PodUid | undefined>(RETRY),
    filter((uid) => uid !== undefined),
  );
}

/** Goes over to another way where the runtime does not know this one; every other failure stays one. */
function instead<T>(other$: Observable<T>): (source$: Observable<T>) => Observable<T> {
  return catchError((error: unknown) =>
    error instanceof RuntimeError && error.kind === 'unimplemented' ? other$ : throwError(() => error),
  );
}
