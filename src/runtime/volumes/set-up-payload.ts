import { concat, concatMap, defer, ignoreElements, take, throwError, type Observable } from 'rxjs';
import type { Pod } from '../../model/pod.ts';
import { volumePayload } from '../../model/volumes/volume-payload.ts';
import { nestedDirs } from '../../model/volumes/nested-dirs.ts';
import { volumeDir, type Volume } from '../../model/volumes/volume-dir.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { setUpEmptyDir } from './set-up-empty-dir.ts';
import type { MountTypes, VolumeGround } from './volume-ground.ts';

/**
 * Makes a volume of files that the agent writes: memory (a config map alone: a folder), and in it files that are replaced
 * all at once. Doing it again brings them up to date; where nothing has changed nothing is written.
 */
export function setUpPayload(pod: Pod, volume: Volume, mounted: MountTypes, ground: VolumeGround): Observable<PodNote> {
  const { files, volumeFiles, facts, paths } = ground;
  return ground.objects$.pipe(
    take(1),
    concatMap((objects): Observable<PodNote> => {
      const payload = volumePayload(pod, volume, facts.allocatable, objects);
      if (payload.kind === 'problem') return throwError(() => new Error(payload.message));
      const dir = volumeDir(paths, pod.metadata, volume) ?? '';
      const group = pod.spec.securityContext?.fsGroup;
      const ownership = group === undefined ? undefined : { group, readOnly: true, onlyOnMismatch: false };
      return concat(
        setUpEmptyDir(pod, volume, mounted, ground),
        ...nestedDirs(pod.spec, volume.name).map((nested) =>
          defer(() => files.makeDir(`${dir}/${nested}`, 0o755)).pipe(ignoreElements()),
        ),
        defer(() => volumeFiles.writePayload(dir, payload.files, ownership)).pipe(ignoreElements()),
      );
    }),
  );
}
