import {
  asyncScheduler,
  catchError,
  defer,
  forkJoin,
  from,
  map,
  mergeMap,
  of,
  tap,
  timeout,
  toArray,
  type Observable,
} from 'rxjs';
import type { Pod, PodUid } from '../../model/pod.ts';
import { sourceOf, volumeDir, type Volume, type VolumeSource } from '../../model/volumes/volume-dir.ts';
import type { PodBook, PodPhase } from '../../streams/book/pod-book.ts';
import type { DiskUsage, TreeUsage } from '../../streams/ports/node-usage.ts';
import type { StatsPorts } from './collect.ts';

/** How much is in one volume of a pod, and how full the file system is that it lies on. */
export interface CollectedVolume {
  readonly name: string;
  /** The claim that it is the folder of, in the pod's namespace. */
  readonly claim?: string;
  /** On the disk of the node, and gone with the pod. */
  readonly isEphemeral: boolean;
  readonly disk: DiskUsage;
  /** Absent where counting takes too long. */
  readonly used?: TreeUsage;
}

export type CollectedVolumes = ReadonlyMap<PodUid, readonly CollectedVolume[]>;

/** Looks at the volumes of all pods that have begun, or only at those that are folders of claims. Emits once; never errors. */
export type VolumeLook = (ports: StatsPorts, book: PodBook, onlyClaims: boolean) => Observable<CollectedVolumes>;

/** What lies on the node and is counted; the others are the node's own, or somebody else's. */
const COUNTED: ReadonlySet<VolumeSource> = new Set([
  'emptyDir',
  'downwardAPI',
  'configMap',
  'secret',
  'projected',
  'persistentVolumeClaim',
]);

const BEGUN: ReadonlySet<PodPhase> = new Set(['syncing', 'finished', 'terminating']);

/** Milliseconds for which what was counted counts (kubelet, volumeStatsAggPeriod). */
const FRESH = 60_000;
/** Milliseconds after which counting a large tree is given up. */
const PATIENCE = 2_000;
/** Trees that are counted at the same time. */
const PARALLEL = 4;

export function volumeLook(): VolumeLook {
  const counted = new Map<string, { readonly at: number; readonly used: TreeUsage }>();

  function count(path: string, { usage }: StatsPorts): Observable<TreeUsage | undefined> {
    return defer(() => {
      const now = asyncScheduler.now();
      const known = counted.get(path);
      if (known && Math.abs(now - known.at) < FRESH) return of(known.used);
      for (const [other, { at }] of counted) if (Math.abs(now - at) >= FRESH) counted.delete(other);
      return usage.tree(path).pipe(
        timeout(PATIENCE),
        tap((used) => counted.set(path, { at: asyncScheduler.now(), used })),
        catchError(() => of(undefined)),
      );
    });
  }

  function look(ports: StatsPorts, pod: Pod, volume: Volume): Observable<readonly CollectedVolume[]> {
    const dir = volumeDir(ports.paths, pod.metadata, volume);
    if (dir === undefined) return of([]);
    return forkJoin([ports.usage.disk(dir), ports.usage.device(dir), ports.usage.device(ports.paths.rootDir)]).pipe(
      mergeMap(([disk, its, ofRoot]) => {
        if (!disk) return of([]);
        // A file system of its own tells by itself how much is in it.
        const own = { bytes: disk.used, inodes: disk.inodes - disk.inodesFree };
        return (its === ofRoot ? count(dir, ports) : of(own)).pipe(
          map((used) => {
            const claim = volume.persistentVolumeClaim?.claimName;
            const isEphemeral = its === ofRoot && claim === undefined;
            return [
              {
                name: volume.name,
                isEphemeral,
                disk,
                ...(used ? { used } : {}),
                ...(claim === undefined ? {} : { claim }),
              },
            ];
          }),
        );
      }),
      catchError(() => of([])),
    );
  }

  return (ports, book, onlyClaims) =>
    from(book.entries.values()).pipe(
      mergeMap(({ phase, pod }) =>
        pod && BEGUN.has(phase) ? (pod.spec.volumes ?? []).map((one) => [pod, one] as const) : [],
      ),
      mergeMap(([pod, volume]) => {
        const source = sourceOf(volume);
        const isMeant = onlyClaims ? source === 'persistentVolumeClaim' : source !== undefined && COUNTED.has(source);
        return isMeant
          ? look(ports, pod, volume).pipe(map((found) => found.map((one) => [pod.metadata.uid, one] as const)))
          : of([]);
      }, PARALLEL),
      toArray(),
      map((found) => {
        const volumes = new Map<PodUid, CollectedVolume[]>();
        for (const [uid, one] of found.flat()) volumes.set(uid, [...(volumes.get(uid) ?? []), one]);
        return volumes;
      }),
    );
}
