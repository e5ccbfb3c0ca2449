import { podDir, type NodePaths } from '../paths.ts';
import type { PodMetadata, PodSpec, PodUid } from '../pod.ts';

export type Volume = NonNullable<PodSpec['volumes']>[number];

/** The sources of volumes that the agent knows how to give to a pod. */
export type VolumeSource =
  | 'emptyDir'
  | 'hostPath'
  | 'downwardAPI'
  | 'configMap'
  | 'secret'
  | 'persistentVolumeClaim'
  | 'projected'
  | 'image'
  | 'nfs';

/** Names of the folders are those of the kubelet's plugins (facts sheet 15.1); `undefined` for what has no folder. */
const FOLDERS = {
  emptyDir: 'kubernetes.io~empty-dir',
  downwardAPI: 'kubernetes.io~downward-api',
  configMap: 'kubernetes.io~configmap',
  secret: 'kubernetes.io~secret',
  projected: 'kubernetes.io~projected',
  nfs: 'kubernetes.io~nfs',
  hostPath: undefined,
  persistentVolumeClaim: undefined,
  image: undefined,
} as const satisfies Record<VolumeSource, string | undefined>;

export function sourceOf(volume: Volume): VolumeSource | undefined {
  return SOURCES.find((source) => volume[source] !== undefined);
}

const SOURCES = Object.keys(FOLDERS) as readonly VolumeSource[];

/** Where the content of a volume stands on the node; `undefined` for an image, which only the runtime has. */
export function volumeDir(
  paths: NodePaths,
  { uid, namespace }: Pick<PodMetadata, 'uid' | 'namespace'>,
  volume: Volume,
): string | undefined {
  if (volume.hostPath) return volume.hostPath.path;
  if (volume.persistentVolumeClaim) return claimDir(paths, namespace, volume.persistentVolumeClaim.claimName);
  const source = sourceOf(volume);
  const folder = source && FOLDERS[source];
  return folder && `${volumesDir(paths, uid)}/${folder}/${volume.name}`;
}

/** Where the content of a claim is kept, whichever pods come and go. */
export function claimDir({ rootDir }: Pick<NodePaths, 'rootDir'>, namespace: string, claim: string): string {
  return `${rootDir}/volumes/${namespace}/${claim}`;
}

export function volumesDir(paths: NodePaths, uid: PodUid): string {
  return `${podDir(paths, uid)}/volumes`;
}

/** Where a part of a volume is shown for the mount of a container with that number in its list. */
export function subPathDir(paths: NodePaths, uid: PodUid, volume: string, container: string, index: number): string {
  return `${subPathsDir(paths, uid)}/${volume}/${container}/${index}`;
}

export function subPathsDir(paths: NodePaths, uid: PodUid): string {
  return `${podDir(paths, uid)}/volume-subpaths`;
}

/** Holds the file `ready` once an emptyDir has been made; those that hold files of ours are wrapped ones. */
export function emptyDirMarker(paths: NodePaths, uid: PodUid, volume: Volume): string {
  const name = volume.emptyDir ? volume.name : `wrapped_${volume.name}`;
  return `${podDir(paths, uid)}/plugins/${FOLDERS.emptyDir}/${name}`;
}

/** Whether the containers may only read it, whatever they ask for. */
export function isReadOnly(volume: Volume): boolean {
  return (
    volume.downwardAPI !== undefined ||
    volume.configMap !== undefined ||
    volume.secret !== undefined ||
    volume.projected !== undefined ||
    volume.image !== undefined ||
    volume.persistentVolumeClaim?.readOnly === true ||
    volume.nfs?.readOnly === true
  );
}
