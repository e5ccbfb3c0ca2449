import { concat, concatMap, defer, EMPTY, ignoreElements, of, take, throwError, type Observable } from 'rxjs';
import { claimOf } from '../../model/objects/object-set.ts';
import type { Pod } from '../../model/pod.ts';
import { claimDir, type Volume } from '../../model/volumes/volume-dir.ts';
import type { VolumeGround } from './volume-ground.ts';

/** Like a fresh emptyDir: whoever the containers run as may write. */
const CLAIM_MODE = 0o777;

/**
 * Gives a pod the folder of a claim: made when the first pod needs it, and never touched again but for `fsGroup`, so that
 * it outlives every pod. Errors where there is no such claim.
 */
export function setUpClaim({ metadata, spec }: Pod, volume: Volume, ground: VolumeGround): Observable<never> {
  const { files, volumeFiles, paths } = ground;
  const name = volume.persistentVolumeClaim?.claimName ?? '';
  return ground.objects$.pipe(
    take(1),
    concatMap((objects): Observable<unknown> => {
      if (!claimOf(objects, metadata.namespace, name))
        return throwError(() => new Error(`persistentvolumeclaim "${name}" not found`));
      const dir = claimDir(paths, metadata.namespace, name);
      return concat(make(dir), give(dir));
    }),
    ignoreElements(),
  );

  function make(dir: string): Observable<unknown> {
    return files.typeOf(dir).pipe(
      concatMap((type) => {
        if (type !== 'missing') return EMPTY;
        const parents = [`${paths.rootDir}/volumes`, `${paths.rootDir}/volumes/${metadata.namespace}`];
        return concat(
          of(...parents).pipe(concatMap((parent) => files.makeDir(parent, 0o750))),
          defer(() => files.makeDir(dir, CLAIM_MODE)),
          defer(() => volumeFiles.setMode(dir, CLAIM_MODE)),
        );
      }),
    );
  }

  function give(dir: string): Observable<unknown> {
    const { fsGroup: group, fsGroupChangePolicy } = spec.securityContext ?? {};
    if (group === undefined || volume.persistentVolumeClaim?.readOnly === true) return EMPTY;
    const onlyOnMismatch = fsGroupChangePolicy === 'OnRootMismatch';
    return defer(() => volumeFiles.giveToGroup(dir, { group, readOnly: false, onlyOnMismatch }));
  }
}
