import { catchError, concat, concatMap, defer, EMPTY, map, mergeMap, of, take, type Observable } from 'rxjs';
import { pullSecrets } from '../../model/credentials/pull-secrets.ts';
import type { LocalImage } from '../../model/local-image.ts';
import { defaultPullPolicy } from '../../model/manifest/pull-policy.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { ensureImage, withTag, type ImageStep } from '../ensure-image.ts';
import { makeContainer } from '../make-container.ts';
import type { PerformContext } from '../perform-context.ts';
import { nextAttemptByLogs } from '../pod-files.ts';
import { sandboxFor, type Progress } from './progress.ts';
import { startMade } from './start-made.ts';

/** Brings a container's images to the node, makes it and starts it. */
export function startContainer(
  pod: Pod,
  container: Container,
  attempt: number | undefined,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { name } = container;
  const volumeImages = new Map<string, string>();
  return concat(
    ...imageVolumesOf(pod, container).map((volume) =>
      fetchImage(pod, volume, memory, progress, context).pipe(
        mergeMap((step) => {
          if (step.kind === 'note') return of(step.note);
          volumeImages.set(volume.name, step.image.ref);
          return EMPTY;
        }),
      ),
    ),
    fetchImage(pod, container, memory, progress, context).pipe(
      mergeMap((step) => (step.kind === 'note' ? of({ ...step.note, container: name }) : create(step.image))),
    ),
  );

  function create(local: LocalImage): Observable<PodNote> {
    const attempt$ = attempt === undefined ? nextAttemptByLogs(pod, name, context) : of(attempt);
    return attempt$.pipe(
      concatMap((restartCount) =>
        makeContainer(
          pod,
          container,
          {
            restartCount,
            image: local,
            volumeImages,
            sandboxId: progress.sandboxId,
            ips: progress.ips,
            sandbox$: sandboxFor(pod, progress.attempt, progress, context),
          },
          context,
        ).pipe(
          concatMap((id) =>
            concat(
              of<PodNote>({ level: 'Normal', reason: 'Created', message: 'Container created', container: name }),
              startMade(pod, container, { id, attempt: restartCount, annotations: {} }, progress, context),
            ),
          ),
        ),
      ),
    );
  }
}

/** What the container's image volumes are made of; each is fetched as if it were the image of a container. */
function imageVolumesOf({ spec }: Pod, { volumeMounts = [] }: Container): readonly Container[] {
  return (spec.volumes ?? []).flatMap(({ name, image }): readonly Container[] => {
    if (!image || !volumeMounts.some((mount) => mount.name === name)) return [];
    const { reference = '', pullPolicy } = image;
    return [{ name, image: reference, imagePullPolicy: pullPolicy ?? defaultPullPolicy(reference) }];
  });
}

/** Brings an image to the node, and remembers which pulls failed. */
function fetchImage(
  pod: Pod,
  wanted: Container,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<Exclude<ImageStep, { kind: 'failedPull' }>> {
  const image = withTag(wanted.image ?? '');
  // What is wrong with the sandbox is told where it is made: the image may come all the same.
  const sandbox$ = defer(() => sandboxFor(pod, progress.attempt, progress, context)).pipe(
    map(({ config }) => config),
    catchError(() => of(undefined)),
  );
  const asker = { annotations: pod.metadata.annotations, sandbox$ };
  return context.objects$.pipe(
    take(1),
    concatMap((objects) =>
      ensureImage(wanted, { ...memory, pulls: progress.pulls }, asker, context.images, pullSecrets(pod, objects)),
    ),
    mergeMap((step) => {
      if (step.kind === 'failedPull') {
        progress.pulls.set(image, step.failure);
        return EMPTY;
      }
      if (step.kind === 'image') progress.pulls.delete(image);
      return of(step);
    }),
  );
}
