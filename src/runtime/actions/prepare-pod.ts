import { catchError, concat, concatMap, defer, mergeMap, of, take, type Observable } from 'rxjs';
import { allContainers } from '../../model/containers.ts';
import { pullSecrets } from '../../model/credentials/pull-secrets.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import { ensureImage, withTag, type ImagePod } from '../ensure-image.ts';
import type { PerformContext } from '../perform-context.ts';
import { sandboxForPull } from '../sandbox-plan.ts';
import { failed } from './failed.ts';
import { untilRetry } from './retry-times.ts';

type Prepare = Extract<PodWork, { kind: 'prepare' }>;

/** Brings the images of every container to the node, one after another; who has them all is prepared. */
export function preparePod(work: Prepare, memory: PodMemory, context: PerformContext): Observable<PodReport> {
  const { uid, pod } = work;
  const pulls = new Map(memory.pulls);
  const asker: ImagePod = { annotations: pod.metadata.annotations, sandbox$: sandboxForPull(pod, context) };
  const remembered = (): PodMemory => ({ ...memory, pulls });
  return concat(
    ...allContainers(pod.spec).map((container) =>
      context.objects$.pipe(
        take(1),
        concatMap((objects) => ensureImage(container, remembered(), asker, context.images, pullSecrets(pod, objects))),
        mergeMap((step): readonly PodReport[] => {
          if (step.kind === 'failedPull') pulls.set(withTag(container.image ?? ''), step.failure);
          if (step.kind === 'image') pulls.delete(withTag(container.image ?? ''));
          return step.kind === 'note' && step.note.reason !== 'Pulled'
            ? [{ kind: 'note', uid, note: { ...step.note, container: container.name } }]
            : [];
        }),
      ),
    ),
    defer(() =>
      of<PodReport>({ kind: 'outcome', uid, outcome: { kind: 'prepared', uid, work }, memory: remembered() }),
    ),
  ).pipe(
    catchError((error: unknown) => {
      return of(failed(work, remembered(), error, untilRetry(pulls, context)));
    }),
  );
}
