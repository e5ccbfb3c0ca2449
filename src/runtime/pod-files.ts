import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  of,
  throwError,
  type Observable,
} from 'rxjs';
import { messageOf } from '../model/errors.ts';
import { hostNetworkHostsFile, hostsFile } from '../model/hosts-file.ts';
import { hostnameOf } from '../model/hostname.ts';
import { emptyDirPath, etcHostsPath, podDir, podLogDir, terminationLogDir, type NodePaths } from '../model/paths.ts';
import type { Pod } from '../model/pod.ts';
import type { Files, PathType } from '../streams/ports/files.ts';

interface Ground {
  readonly files: Files;
  readonly paths: NodePaths;
}

/** A volume that cannot be given to the pod; the pod waits until it can. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

/** Makes the folders of a pod and its volumes, and checks those of the node (facts sheet 1.3, 15). Completes; errors with a {@link VolumeError}. */
export function preparePodFiles(pod: Pod, { files, paths }: Ground): Observable<never> {
  const { uid } = pod.metadata;
  const dir = podDir(paths, uid);
  const folders = [dir, `${dir}/volumes`, `${dir}/plugins`].map((path) => files.makeDir(path, 0o750));
  const volumes = (pod.spec.volumes ?? []).map((volume): Observable<unknown> =>
    volume.hostPath
      ? checkHostPath(volume.name, volume.hostPath.path, volume.hostPath.type ?? '', files)
      : files.makeDir(emptyDirPath(paths, uid, volume.name), 0o777),
  );
  return concat(...folders, files.makeDir(podLogDir(paths, pod.metadata), 0o755), ...volumes).pipe(
    catchError((error: unknown) => throwError(() => new VolumeError(messageOf(error)))),
    ignoreElements(),
  );
}

/** Writes the pod's `/etc/hosts` in place: running containers have the file itself mounted. */
export function writeHosts(pod: Pod, ips: readonly string[], { files, paths }: Ground): Observable<never> {
  const { metadata, spec } = pod;
  const text$ =
    spec.hostNetwork === true
      ? files.readFile('/etc/hosts').pipe(map((ofNode) => hostNetworkHostsFile(ofNode ?? '')))
      : of(hostsFile(ips, hostnameOf(metadata.name, spec.hostname)));
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

const MUST_BE: Readonly<Record<string, { readonly type: PathType; readonly noun: string }>> = {
  Directory: { type: 'directory', noun: 'directory' },
  File: { type: 'file', noun: 'file' },
  Socket: { type: 'socket', noun: 'socket file' },
  CharDevice: { type: 'charDevice', noun: 'character device' },
  BlockDevice: { type: 'blockDevice', noun: 'block device' },
  DirectoryOrCreate: { type: 'directory', noun: 'directory' },
  FileOrCreate: { type: 'file', noun: 'file' },
};

/** Facts sheet 15.3; an empty type checks nothing, and the runtime makes what is missing. */
function checkHostPath(volume: string, path: string, type: string, files: Files): Observable<unknown> {
  const wanted = MUST_BE[type];
  if (!wanted) return EMPTY;
  return files.typeOf(path).pipe(
    concatMap((found) => {
      if (found === wanted.type) return EMPTY;
      if (found === 'missing' && type === 'DirectoryOrCreate') return files.makeDir(path, 0o755);
      if (found === 'missing' && type === 'FileOrCreate') return files.writeFile(path, '', { mode: 0o644 });
      return throwError(
        () =>
          new VolumeError(
            `MountVolume.SetUp failed for volume "${volume}" : hostPath type check failed: ${path} is not a ${wanted.noun}`,
          ),
      );
    }),
  );
}
