import type { PodUid } from './pod.ts';

/** Where things of the pods stand on the node; the layout is the kubelet's (facts sheet 15.1, 23.3). */
export interface NodePaths {
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly containerLinksDir: string;
}

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

export function podsDir({ rootDir }: NodePaths): string {
  return `${rootDir}/pods`;
}

export function podDir(paths: NodePaths, uid: PodUid): string {
  return `${podsDir(paths)}/${uid}`;
}

/** `<namespace>_<name>_<uid>`: the UID is what stands after the last underscore. */
export function podLogDir(
  { podLogsDir }: Pick<NodePaths, 'podLogsDir'>,
  { uid, name, namespace }: PodIdentity,
): string {
  return `${podLogsDir}/${namespace}_${name}_${uid}`;
}

export function uidOfLogDir(name: string): string {
  return name.slice(name.lastIndexOf('_') + 1);
}

/** A path in a container, which counts from its root whether it says so or not. */
export function fromRoot(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** Relative to the pod's log directory. */
export function containerLogPath(container: string, restartCount: number): string {
  return `${container}/${restartCount}.log`;
}

const NAME_MAX = 255;

/** The link under `/var/log/containers` by which log collectors find a container; cut to what a file name may hold. */
export function containerLink(paths: NodePaths, pod: PodIdentity, container: string, containerId: string): string {
  const name = `${pod.name}_${pod.namespace}_${container}-${containerId}`;
  return `${paths.containerLinksDir}/${name.slice(0, NAME_MAX - '.log'.length)}.log`;
}

export function emptyDirPath(paths: NodePaths, uid: PodUid, volume: string): string {
  return `${podDir(paths, uid)}/volumes/kubernetes.io~empty-dir/${volume}`;
}

export function etcHostsPath(paths: NodePaths, uid: PodUid): string {
  return `${podDir(paths, uid)}/etc-hosts`;
}

export function terminationLogDir(paths: NodePaths, uid: PodUid, container: string): string {
  return `${podDir(paths, uid)}/containers/${container}`;
}
