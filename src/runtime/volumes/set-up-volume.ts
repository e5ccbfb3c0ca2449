import { concat, defer, EMPTY, ignoreElements, throwError, type Observable } from 'rxjs';
import { assertNever } from '../../model/errors.ts';
import type { Pod } from '../../model/pod.ts';
import { sourceOf, volumeDir, type Volume } from '../../model/volumes/volume-dir.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import { checkHostPath } from './check-host-path.ts';
import { setUpEmptyDir } from './set-up-empty-dir.ts';
import { setUpPayload } from './set-up-payload.ts';
import { setUpClaim } from './set-up-claim.ts';
import type { MountTypes, VolumeGround } from './volume-ground.ts';

/**
 * Makes one volume what the pod asks for (facts sheet 15.3): what is there already is left, what is missing is made,
 * and files of ours that are out of date are replaced. Completes when it is ready; errors with why it is not.
 */
export function setUpVolume(pod: Pod, volume: Volume, mounted: MountTypes, ground: VolumeGround): Observable<PodNote> {
  return defer((): Observable<PodNote> => {
    const source = sourceOf(volume);
    switch (source) {
      case 'hostPath':
        return checkHostPath(volume, ground.files);
      case 'emptyDir':
        return setUpEmptyDir(pod, volume, mounted, ground);
      case 'downwardAPI':
      case 'configMap':
      case 'secret':
      case 'projected':
        return setUpPayload(pod, volume, mounted, ground);
      case 'persistentVolumeClaim':
        return setUpClaim(pod, volume, ground);
      case 'nfs':
        return setUpNfs(pod, volume, mounted, ground);
      case 'image':
        return EMPTY; // the runtime mounts it
      case undefined:
        return throwError(() => new Error('no volume plugin matched'));
      default:
        return assertNever(source);
    }
  });
}

function setUpNfs(
  pod: Pod,
  volume: Volume,
  mounted: MountTypes,
  { files, mounts, paths }: VolumeGround,
): Observable<never> {
  const target = volumeDir(paths, pod.metadata, volume) ?? '';
  const { server = '', path = '', readOnly } = volume.nfs ?? {};
  if (mounted.has(target)) return EMPTY;
  const source = `${server.includes(':') ? `[${server}]` : server}:${path}`;
  return concat(
    files.makeDir(target, 0o750),
    defer(() => mounts.mount({ source, target, type: 'nfs', options: readOnly === true ? ['ro'] : [] })),
  ).pipe(ignoreElements());
}
