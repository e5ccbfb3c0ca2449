import {
  asyncScheduler,
  catchError,
  concat,
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
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { podDir } from '../../model/paths.ts';
import type { FailedMount } from '../../model/pod-memory.ts';
import type { Pod } from '../../model/pod.ts';
import { usedVolumes } from '../../model/volumes/used-volumes.ts';
import { sourceOf, type Volume } from '../../model/volumes/volume-dir.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { setUpVolume } from './set-up-volume.ts';
import { VolumeError } from './volume-error.ts';
import type { MountTypes, VolumeGround } from './volume-ground.ts';

const FIRST_DELAY = 500;
const LONGEST_DELAY = 122_000;
/** Milliseconds after which the volumes that are still not ready are told together, again and again. */
const PATIENCE = 123_000;

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
 * Where one is not ready for 2 min 3 s, and each time as long again, all that are not are told together, too.
 *
 * What is there is found by looking, so it may be done over and over, also by an agent that has just started.
 * Completes when all are ready; errors with a {@link VolumeError} when every one was tried. Emits what there is to tell meanwhile.
 */
export function setUpVolumes(
  pod: Pod,
  before: ReadonlyMap<string, FailedMount>,
  ground: VolumeGround,
): Observable<PodNote> {
  return defer(() => {
    const failed = new Map<string, FailedMount>();
    const news: string[] = [];
    return concat(
      forkJoin([mountTypes(pod, ground), ground.objects$.pipe(take(1))]).pipe(
        concatMap(([mounted, { version }]) =>
          from(usedVolumes(pod.spec)).pipe(mergeMap((volume) => attempt(volume, mounted, version))),
        ),
      ),
      defer(() => {
        if (failed.size === 0) return EMPTY;
        const isOld = news.length > 0 && isOverdue(before, failed, asyncScheduler.now());
        return throwError(() => new VolumeError([...news, ...(isOld ? [summaryOf([...failed.keys()])] : [])], failed));
      }),
    );

    function attempt(volume: Volume, mounted: MountTypes, objects: number): Observable<PodNote> {
      const earlier = before.get(volume.name);
      if (earlier && isHeldBack(earlier, objects, asyncScheduler.now())) {
        failed.set(volume.name, earlier);
        return EMPTY;
      }
      return setUpVolume(pod, volume, mounted, ground).pipe(
        catchError((error: unknown) => {
          const failure = failureOf(volume, error, earlier, objects);
          failed.set(volume.name, failure);
          news.push(failure.error);
          return EMPTY;
        }),
      );
    }
  });
}

/** Brings the files of ours in a pod's volumes up to date while it runs. Completes; errors with the first failure. */
export function refreshVolumes(pod: Pod, ground: VolumeGround): Observable<PodNote> {
  const volumes = usedVolumes(pod.spec).filter(
    ({ downwardAPI, configMap, secret, projected }) => downwardAPI ?? configMap ?? secret ?? projected,
  );
  if (volumes.length === 0) return EMPTY;
  return mountTypes(pod, ground).pipe(
    concatMap((mounted) => from(volumes).pipe(concatMap((volume) => setUpVolume(pod, volume, mounted, ground)))),
  );
}

function failureOf(volume: Volume, error: unknown, earlier: FailedMount | undefined, objects: number): FailedMount {
  const now = asyncScheduler.now();
  const delay = earlier ? Math.min(LONGEST_DELAY, earlier.delay * 2) : FIRST_DELAY;
  const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${messageOf(error)}`;
  const seen = objects > 0 ? { objects } : {};
  return { since: earlier?.since ?? now, delay, until: now + delay, ...seen, error: message };
}

/** Whether another while of {@link PATIENCE} has passed between the last try and this one without all being ready. */
function isOverdue(
  before: ReadonlyMap<string, FailedMount>,
  failures: ReadonlyMap<string, FailedMount>,
  now: number,
): boolean {
  const since = Math.min(...[...failures.values()].map((failure) => failure.since));
  const lastTry = Math.max(since, ...[...before.values()].map(({ until, delay }) => until - delay));
  const whiles = (at: number): number => Math.floor((at - since) / PATIENCE);
  return whiles(now) > whiles(lastTry);
}

/** In the kubelet's words; static pods have no volumes that a controller attaches. */
function summaryOf(volumes: readonly string[]): string {
  const lists = `unmounted volumes=[${volumes.toSorted().join(' ')}], unattached volumes=[], failed to process volumes=[]`;
  return `Unable to attach or mount volumes: ${lists}: context deadline exceeded`;
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
