import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  forkJoin,
  from,
  map,
  mergeMap,
  of,
  take,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { podDir } from '../../model/paths.ts';
import type { FailedMount } from '../../model/pod-memory.ts';
import type { Pod } from '../../model/pod.ts';
import { usedVolumes } from '../../model/volumes/used-volumes.ts';
import { sourceOf, type Volume } from '../../model/volumes/volume-dir.ts';
import { setUpVolume } from './set-up-volume.ts';
import { VolumeError } from './volume-error.ts';
import type { MountTypes, VolumeGround } from './volume-ground.ts';

const FIRST_DELAY = 500;
const LONGEST_DELAY = 122_000;

/**
 * Makes all volumes that a pod uses ready, side by side (facts sheet 15.2).
 *
 * ```text
 * a        --|
 * b        ----#          cannot be mounted: tried again 500 ms later, then 1 s, 2 s, ... 2 min 2 s
 * c                       failed before and its time has not come: not tried
 * result   ----#          b and c
 * ```
 *
 * What is there is found by looking, so it may be done over and over, also by an agent that has just started.
 * Completes when all are ready; errors with a {@link VolumeError} when every one was tried.
 */
export function setUpVolumes(
  pod: Pod,
  before: ReadonlyMap<string, FailedMount>,
  ground: VolumeGround,
): Observable<never> {
  return forkJoin([mountTypes(pod, ground), ground.objects$.pipe(take(1))]).pipe(
    concatMap(([mounted, { version }]) =>
      from(usedVolumes(pod.spec)).pipe(
        mergeMap((volume) => attempt(pod, volume, before.get(volume.name), mounted, version, ground)),
        toArray(),
      ),
    ),
    concatMap((attempts) => {
      if (attempts.length === 0) return EMPTY;
      const failures = new Map(attempts.map(({ volume, failure }) => [volume, failure]));
      const news = attempts.filter(({ isNew }) => isNew).map(({ failure }) => failure.error);
      return throwError(() => new VolumeError(news, failures));
    }),
  );
}

/** Brings the files of ours in a pod's volumes up to date while it runs. Completes; errors with the first failure. */
export function refreshVolumes(pod: Pod, ground: VolumeGround): Observable<never> {
  const volumes = usedVolumes(pod.spec).filter(
    ({ downwardAPI, configMap, secret, projected }) => downwardAPI ?? configMap ?? secret ?? projected,
  );
  if (volumes.length === 0) return EMPTY;
  return mountTypes(pod, ground).pipe(
    concatMap((mounted) => from(volumes).pipe(concatMap((volume) => setUpVolume(pod, volume, mounted, ground)))),
  );
}

interface Attempt {
  readonly volume: string;
  readonly failure: FailedMount;
  readonly isNew: boolean;
}

/** Emits only when the volume is not ready. */
function attempt(
  pod: Pod,
  volume: Volume,
  failed: FailedMount | undefined,
  mounted: MountTypes,
  objects: number,
  ground: VolumeGround,
): Observable<Attempt> {
  return defer((): Observable<Attempt> => {
    if (failed && isHeldBack(failed, objects, asyncScheduler.now()))
      return of({ volume: volume.name, failure: failed, isNew: false });
    return setUpVolume(pod, volume, mounted, ground).pipe(
      catchError((error: unknown) => {
        const delay = failed ? Math.min(LONGEST_DELAY, failed.delay * 2) : FIRST_DELAY;
        const failure: FailedMount = {
          delay,
          until: asyncScheduler.now() + delay,
          ...(objects > 0 && { objects }),
          error: `MountVolume.SetUp failed for volume "${volume.name}" : ${messageOf(error)}`,
        };
        return of({ volume: volume.name, failure, isNew: true });
      }),
    );
  });
}

/** A clock that was set back to before the failure ends the wait, and so does any change of the objects. */
function isHeldBack({ until, delay, objects: seen = 0 }: FailedMount, objects: number, now: number): boolean {
  return now < until && now >= until - delay && seen === objects;
}

/** Asked only where a volume may be mounted: most pods have none that is. */
function mountTypes({ metadata, spec }: Pod, { mounts, paths }: VolumeGround): Observable<MountTypes> {
  const asks = usedVolumes(spec).some((volume) => {
    const source = sourceOf(volume);
    return (
      source !== 'hostPath' &&
      source !== 'persistentVolumeClaim' &&
      source !== 'image' &&
      (source !== 'emptyDir' || volume.emptyDir?.medium)
    );
  });
  if (!asks) return of(new Map());
  return mounts
    .below(podDir(paths, metadata.uid))
    .pipe(map((list) => new Map(list.map(({ target, type }) => [target, type]))));
}
