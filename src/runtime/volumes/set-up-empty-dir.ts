import { concat, concatMap, defer, EMPTY, forkJoin, ignoreElements, map, of, throwError, type Observable } from 'rxjs';
import type { Pod } from '../../model/pod.ts';
import { parseQuantity, wholeValue } from '../../model/quantity.ts';
import { hugePageSize, isHugePages } from '../../model/volumes/huge-page-size.ts';
import { memorySize } from '../../model/volumes/memory-size.ts';
import { emptyDirMarker, volumeDir, type Volume } from '../../model/volumes/volume-dir.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { tellSlowChange } from './tell-slow-change.ts';
import type { MountTypes, VolumeGround } from './volume-ground.ts';

const DIR_MODE = 0o777;

/**
 * Makes an emptyDir, on the disk, in memory or in huge pages, or the memory that files of ours are put in.
 *
 * Once it is ready a marker says so beside it, and from then on it is the containers': nothing in it is touched, over
 * restarts of containers and of the agent. Memory that is no longer mounted (the machine was started anew) is empty.
 */
export function setUpEmptyDir(
  pod: Pod,
  volume: Volume,
  mounted: MountTypes,
  ground: VolumeGround,
): Observable<PodNote> {
  const medium = volume.emptyDir ? (volume.emptyDir.medium ?? '') : volume.configMap ? '' : 'Memory';
  const dir = volumeDir(ground.paths, pod.metadata, volume) ?? '';
  if (medium !== '' && medium !== 'Memory' && !isHugePages(medium))
    return throwError(() => new Error(`unknown storage medium ${JSON.stringify(medium)}`));
  return isReady(pod, volume, dir, ground).pipe(
    concatMap((ready): Observable<PodNote> => {
      if (ready && (medium === '' || mounted.has(dir))) return EMPTY;
      return concat(
        mounted.has(dir) ? EMPTY : makeEmpty(pod, volume, medium, dir, ground).pipe(ignoreElements()),
        giveToGroup(pod, dir, ground),
        mark(pod, volume, ground).pipe(ignoreElements()),
      );
    }),
  );
}

function isReady({ metadata }: Pod, volume: Volume, dir: string, { files, paths }: VolumeGround): Observable<boolean> {
  const marker = `${emptyDirMarker(paths, metadata.uid, volume)}/ready`;
  return forkJoin([files.typeOf(marker), files.typeOf(dir)]).pipe(
    map(([mark, place]) => mark === 'file' && place === 'directory'),
  );
}

function makeEmpty(
  { spec }: Pod,
  volume: Volume,
  medium: string,
  dir: string,
  { files, mounts, volumeFiles, facts }: VolumeGround,
): Observable<unknown> {
  return concat(
    files.makeDir(dir, DIR_MODE),
    defer(() => volumeFiles.setMode(dir, DIR_MODE)),
    defer((): Observable<unknown> => {
      if (medium === '') return EMPTY;
      if (medium === 'Memory') return mounts.mountMemory(dir, memorySize(spec, volume, memoryFor(facts)));
      const pages = hugePageSize(spec, medium);
      if (pages.kind === 'wrong') return throwError(() => new Error(pages.message));
      const options = [`pagesize=${pages.size}`, ...sizeOption(volume)];
      return mounts.mount({ source: 'nodev', target: dir, type: 'hugetlbfs', options });
    }),
  );
}

/** The kernel keeps to the limit, rounded down to whole pages; without one the pod's own limit of huge pages holds. */
function sizeOption({ emptyDir }: Volume): readonly string[] {
  const limit = parseQuantity(emptyDir?.sizeLimit ?? '');
  return limit && limit.nano > 0n ? [`size=${wholeValue(limit)}`] : [];
}

/** Bytes that pods may take together. */
function memoryFor({ allocatable, memoryCapacity }: VolumeGround['facts']): number {
  const quantity = parseQuantity(allocatable['memory'] ?? '');
  return quantity ? wholeValue(quantity) : memoryCapacity;
}

function giveToGroup({ spec }: Pod, dir: string, { volumeFiles }: VolumeGround): Observable<PodNote> {
  const group = spec.securityContext?.fsGroup;
  if (group === undefined) return EMPTY;
  // Whatever the change policy says: it is empty, so there is nothing to save.
  return tellSlowChange(
    dir,
    defer(() => volumeFiles.giveToGroup(dir, { group, readOnly: false, onlyOnMismatch: false })),
  );
}

function mark({ metadata }: Pod, volume: Volume, { files, paths }: VolumeGround): Observable<unknown> {
  const marker = emptyDirMarker(paths, metadata.uid, volume);
  return concat(
    of(marker.slice(0, marker.lastIndexOf('/')), marker).pipe(concatMap((dir) => files.makeDir(dir, 0o750))),
    defer(() => files.writeFile(`${marker}/ready`, '', { mode: 0o644 })),
  );
}
