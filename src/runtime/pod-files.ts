import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  of,
  throwError,
  type Observable,
} from 'rxjs';
import { allContainers } from '../model/containers.ts';
import { messageOf } from '../model/errors.ts';
import { hostNetworkHostsFile, hostsFile } from '../model/hosts-file.ts';
import { podNames } from '../model/hostname.ts';
import { etcHostsPath, podDir, podLogDir, terminationLogDir, type NodePaths } from '../model/paths.ts';
import type { FailedMount } from '../model/pod-memory.ts';
import type { Pod } from '../model/pod.ts';
import type { Files } from '../streams/ports/files.ts';
import type { PodNote } from '../streams/workers/pod-work.ts';
import { bringsHosts } from './mounts.ts';
import { setUpVolumes } from './volumes/set-up-volumes.ts';
import { VolumeError } from './volumes/volume-error.ts';
import type { VolumeGround } from './volumes/volume-ground.ts';

interface Ground {
  readonly files: Files;
  readonly paths: NodePaths;
}

/**
 * Makes the folders of a pod and its volumes, and checks those of the node (facts sheet 1.3, 15). `failed` tells which
 * volumes have failed before. Completes; errors with a {@link VolumeError} where a volume is not ready.
 */
export function preparePodFiles(
  pod: Pod,
  ground: VolumeGround,
  failed: ReadonlyMap<string, FailedMount> = new Map(),
): Observable<PodNote> {
  const { files, paths } = ground;
  const { uid } = pod.metadata;
  const dir = podDir(paths, uid);
  const within$ = merge(...[`${dir}/volumes`, `${dir}/plugins`].map((path) => files.makeDir(path, 0o750)));
  const folders$ = concat(files.makeDir(dir, 0o750), within$);
  return merge(folders$, files.makeDir(podLogDir(paths, pod.metadata), 0o755)).pipe(
    catchError((error: unknown) => throwError(() => new VolumeError([messageOf(error)], new Map()))),
    ignoreElements(),
    (made$) => concat(made$, setUpVolumes(pod, failed, ground)),
  );
}

/**
 * Writes the pod's `/etc/hosts` in place: running containers have the file itself mounted. Nothing where every container
 * brings its own: nobody would see it.
 */
export function writeHosts(
  pod: Pod,
  ips: readonly string[],
  { files, paths, config }: Ground & { readonly config: { readonly clusterDomain: string } },
): Observable<never> {
  const { metadata, spec } = pod;
  if (allContainers(spec).every(bringsHosts)) return EMPTY;
  const text$ =
    spec.hostNetwork === true
      ? files.readFile('/etc/hosts').pipe(map((ofNode) => hostNetworkHostsFile(ofNode ?? '', spec.hostAliases)))
      : of(hostsFile(ips, podNames(pod, config.clusterDomain), spec.hostAliases));
  return text$.pipe(
    concatMap((text) => files.writeFile(etcHostsPath(paths, metadata.uid), text, { mode: 0o644, inPlace: true })),
    ignoreElements(),
  );
}

/** Makes the file that the container finds at its terminationMessagePath. Emits its path. */
export function makeTerminationLog(
  pod: Pod,
  container: string,
  random: () => number,
  { files, paths }: Ground,
): Observable<string> {
  return defer(() => {
    const dir = terminationLogDir(paths, pod.metadata.uid, container);
    const name = Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
    return concat(
      files.makeDir(`${podDir(paths, pod.metadata.uid)}/containers`, 0o750).pipe(ignoreElements()),
      files.makeDir(dir, 0o750).pipe(ignoreElements()),
      files.writeFile(`${dir}/${name}`, '', { mode: 0o666 }).pipe(ignoreElements()),
      of(`${dir}/${name}`),
    );
  });
}

/** The number after the highest one among the container's log files; 0 where there are none (kubelet, restart count from logs). */
export function nextAttemptByLogs(pod: Pod, container: string, { files, paths }: Ground): Observable<number> {
  return files.list(`${podLogDir(paths, pod.metadata)}/${container}`).pipe(
    map((names) => {
      const counts = names.map((name) => /^(\d+)\.log/.exec(name)?.[1]).filter((digits) => digits !== undefined);
      return counts.length === 0 ? 0 : Math.max(...counts.map(Number)) + 1;
    }),
  );
}
