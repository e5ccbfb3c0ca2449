import { catchError, concat, EMPTY, ignoreElements, of, throwError, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { graceOf } from '../../model/grace.ts';
import type { ObservedContainer } from '../../model/observed.ts';
import { containerLink, containerLogPath, podLogDir } from '../../model/paths.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { StartError } from '../ensure-image.ts';
import { runHook } from '../lifecycle-hook.ts';
import { complaintOf } from '../make-container.ts';
import type { PerformContext } from '../perform-context.ts';
import { stopContainer } from '../stop-pod.ts';
import { optional } from './optional.ts';
import { endingOf, type Progress } from './progress.ts';

/** Starts a container that was made, shows its log to collectors, and runs its postStart hook to the end. */
export function startMade(
  pod: Pod,
  container: Container,
  made: Pick<ObservedContainer, 'id' | 'attempt' | 'annotations'>,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri, files, paths } = context;
  const { name } = container;
  const log = `${podLogDir(paths, pod.metadata)}/${containerLogPath(name, made.attempt)}`;
  return concat(
    cri.startContainer({ containerId: made.id }).pipe(
      ignoreElements(),
      catchError((error: unknown) =>
        throwError(() => new StartError('RunContainerError', complaintOf(error, container))),
      ),
    ),
    of<PodNote>({ level: 'Normal', reason: 'Started', message: 'Container started', container: name }),
    // Only log collectors need the link: without it the container is as good as ever.
    optional(files.link(log, containerLink(paths, pod.metadata, name, made.id)).pipe(ignoreElements())),
    postStart(pod, container, made, progress, context),
  );
}

/** A hook that fails ends its container, which then restarts as its policy says (facts sheet 17). */
function postStart(
  pod: Pod,
  container: Container,
  { id, annotations }: Pick<ObservedContainer, 'id' | 'annotations'>,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { name } = container;
  const handler = container.lifecycle?.postStart;
  if (!handler) return EMPTY;
  const ending = endingOf(pod, progress, context);
  return runHook(handler, { containerId: id, container, podIp: ending.podIp }, ending).pipe(
    catchError((error: unknown) =>
      concat(
        of<PodNote>({
          level: 'Warning',
          reason: 'FailedPostStartHook',
          message: `PostStartHook failed: ${messageOf(error)}`,
          container: name,
        }),
        stopContainer({ id, name, annotations }, graceOf(pod), 'FailedPostStartHook', ending),
        throwError(() => new StartError('PostStartHookError', messageOf(error))),
      ),
    ),
  );
}
