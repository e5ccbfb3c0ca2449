import type { Mount, MountPropagation } from '../model/cri/api.ts';
import { etcHostsPath, fromRoot } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import { isReadOnly, subPathDir, volumeDir } from '../model/volumes/volume-dir.ts';
import type { RuntimeContext } from './context.ts';

const ETC_HOSTS = '/etc/hosts';

const PROPAGATION: Readonly<Record<string, MountPropagation>> = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

/**
 * What of the node a container sees: its volumes in the order of its list, then the pod's hosts file and its termination
 * log (facts sheet 15.4). What needs the node to be known (parts of volumes, images) is completed by `prepareMounts`.
 */
export function mountsOf(
  pod: Pod,
  container: Container,
  terminationLog: string,
  { paths }: Pick<RuntimeContext, 'paths'>,
): readonly Mount[] {
  const { uid, annotations } = pod.metadata;
  const own = (container.volumeMounts ?? []).map((mount, index): Mount => {
    const { name, mountPath, subPath = '', subPathExpr = '', readOnly, mountPropagation } = mount;
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
    const containerPath = fromRoot(mountPath);
    const propagation = PROPAGATION[mountPropagation ?? 'None'] ?? 'PROPAGATION_PRIVATE';
    if (volume?.image) {
      return {
        containerPath,
        readonly: true,
        propagation,
        image: { image: '', annotations, userSpecifiedImage: volume.image.reference ?? '' },
        ...(subPath === '' ? {} : { imageSubPath: subPath }),
      };
    }
    const isPart = subPath !== '' || subPathExpr !== '';
    return {
      containerPath,
      hostPath: isPart
        ? subPathDir(paths, uid, name, container.name, index)
        : ((volume && volumeDir(paths, pod.metadata, volume)) ?? ''),
      readonly: readOnly === true || (volume !== undefined && isReadOnly(volume)),
      propagation,
    };
  });
  return [
    ...own,
    ...(bringsHosts(container) ? [] : [{ containerPath: ETC_HOSTS, hostPath: etcHostsPath(paths, uid) }]),
    ...(container.terminationMessagePath
      ? [{ containerPath: fromRoot(container.terminationMessagePath), hostPath: terminationLog }]
      : []),
  ];
}

/** Whether a mount of its own stands where the pod's hosts file would. */
export function bringsHosts({ volumeMounts = [] }: Pick<Container, 'volumeMounts'>): boolean {
  return volumeMounts.some(({ mountPath }) => fromRoot(mountPath) === ETC_HOSTS);
}
