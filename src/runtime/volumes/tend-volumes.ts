import { catchError, EMPTY, of, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { refreshVolumes } from './set-up-volumes.ts';
import { releaseVolumes } from './tear-down-volumes.ts';
import type { VolumeGround } from './volume-ground.ts';

/**
 * Looks after the volumes of a pod that needs nothing else: files of ours follow what the pod says of itself, and those
 * of a pod that is done for good are given back.
 */
export function tendVolumes(pod: Pod, finished: boolean, ground: VolumeGround): Observable<PodNote> {
  if ((pod.spec.volumes ?? []).length === 0) return EMPTY;
  const tended$ = finished ? releaseVolumes(pod.metadata.uid, ground) : refreshVolumes(pod, ground);
  return tended$.pipe(
    catchError((error: unknown) =>
      of<PodNote>({ level: 'Warning', reason: finished ? 'FailedUnMount' : 'FailedMount', message: messageOf(error) }),
    ),
  );
}
