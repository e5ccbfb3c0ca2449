import { catchError, concatMap, EMPTY, from, map, mergeMap, of, type Observable } from 'rxjs';
import type { Pod } from '../../model/pod.ts';
import { parseQuantity, wholeValue } from '../../model/quantity.ts';
import { usedVolumes } from '../../model/volumes/used-volumes.ts';
import { volumeDir } from '../../model/volumes/volume-dir.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import type { VolumeGround } from './volume-ground.ts';

/**
 * Measures the emptyDirs of a pod that have a `sizeLimit` and are on the disk; memory holds its limit by itself. Emits
 * a warning for each that is over it. The pod goes on: the kubelet does not end static pods for it either, and to end
 * what the machine is there for would be worse than the disk that it takes. What cannot be measured is left out.
 */
export function overLimit(pod: Pod, { paths, volumeFiles }: VolumeGround): Observable<PodNote> {
  const limited = usedVolumes(pod.spec).filter(
    ({ emptyDir }) => emptyDir?.sizeLimit !== undefined && (emptyDir.medium ?? '') === '',
  );
  return from(limited).pipe(
    concatMap((volume) => {
      const limit = volume.emptyDir?.sizeLimit ?? '';
      const quantity = parseQuantity(limit);
      const bytes = quantity ? wholeValue(quantity) : 0;
      if (bytes === 0) return EMPTY;
      return volumeFiles.usage(volumeDir(paths, pod.metadata, volume) ?? '').pipe(
        mergeMap((used) => (used > bytes ? of(undefined) : EMPTY)),
        map((): PodNote => {
          const message = `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${limit}". `;
          return { level: 'Warning', reason: 'EmptyDirLimitExceeded', message };
        }),
        catchError(() => EMPTY),
      );
    }),
  );
}
