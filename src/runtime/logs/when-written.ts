import { catchError, filter, map, of, repeat, take, type Observable } from 'rxjs';
import type { Cri } from '../../streams/ports/cri.ts';

/** Milliseconds between two looks. */
const LOOK = 100;

/**
 * Emits once, and completes, when the runtime has written to the log all that a container said: before that it does not
 * tell that the container has ended (containerd). The agent may know of the end earlier.
 *
 * ```text
 * asked     r   r   e       r: it runs; e: it has ended, or cannot be asked
 * result    --------(x|)    a tenth of a second between two looks
 * ```
 *
 * Never errors.
 */
export function whenWritten(cri: Pick<Cri, 'containerStatus'>, containerId: string): Observable<unknown> {
  return cri.containerStatus({ containerId }).pipe(
    map(({ status }) => status?.state !== 'CONTAINER_RUNNING'),
    catchError(() => of(true)),
    repeat({ delay: LOOK }),
    filter((isWritten) => isWritten),
    take(1),
  );
}
