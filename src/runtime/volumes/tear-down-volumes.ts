import { concat, concatMap, defer, ignoreElements, type Observable } from 'rxjs';
import { podDir } from '../../model/paths.ts';
import type { PodUid } from '../../model/pod.ts';
import { subPathsDir, volumesDir } from '../../model/volumes/volume-dir.ts';
import type { VolumeGround } from './volume-ground.ts';

type Ground = Pick<VolumeGround, 'files' | 'mounts' | 'paths'>;

/**
 * Unmounts what the agent has mounted for a pod of which nothing runs any more: parts of volumes first, then the
 * volumes, the last mounted first. It is found by looking, so that an agent that never knew the pod can do it.
 *
 * A mount deeper inside is somebody else's and stays, and with it everything around it. Completes; errors with the
 * first one that could not be unmounted, and may be repeated.
 */
export function unmountVolumes(uid: PodUid, { mounts, paths }: Ground): Observable<never> {
  const subPaths = depthBelow(subPathsDir(paths, uid));
  const volumes = depthBelow(volumesDir(paths, uid));
  return defer(() => mounts.below(podDir(paths, uid))).pipe(
    concatMap((list) => {
      const targets = list.map(({ target }) => target).reverse();
      const ours = [
        ...targets.filter((target) => subPaths(target) === SUB_PATH_DEPTH),
        ...targets.filter((target) => volumes(target) === VOLUME_DEPTH),
      ];
      return concat(...ours.map((target) => mounts.unmount(target)));
    }),
    ignoreElements(),
  );
}

/** Unmounts and removes the volumes of a pod that is done for good, while the pod itself is still shown. */
export function releaseVolumes(uid: PodUid, ground: Ground): Observable<never> {
  const { files, paths } = ground;
  const markers = `${podDir(paths, uid)}/plugins/kubernetes.io~empty-dir`;
  return concat(
    unmountVolumes(uid, ground),
    ...[subPathsDir(paths, uid), `${volumesDir(paths, uid)}/kubernetes.io~empty-dir`, markers].map((path) =>
      defer(() => files.removeTree(path)),
    ),
  ).pipe(ignoreElements());
}

/** `<volume>/<container>/<number>` and `<plugin>/<volume>`. */
const SUB_PATH_DEPTH = 3;
const VOLUME_DEPTH = 2;

/** How many names below a folder a path is; 0 for one that is not. */
function depthBelow(folder: string): (path: string) => number {
  return (path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/').length : 0);
}
