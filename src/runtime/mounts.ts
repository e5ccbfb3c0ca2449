import type { Mount, MountPropagation } from '../model/cri/api.ts';
import { etcHostsPath, fromRoot } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import { isReadOnly, sourceOf, subPathDir, volumeDir, type Volume } from '../model/volumes/volume-dir.ts';
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
 * Where SELinux labels files, those that the agent has made for the pod are given its label.
 */
export function mountsOf(
  pod: Pod,
  container: Container,
  terminationLog: string,
  { paths, facts }: Pick<RuntimeContext, 'paths' | 'facts'>,
): readonly Mount[] {
  const { uid, annotations } = pod.metadata;
  const relabelled = facts.selinux === true ? { selinuxRelabel: true } : {};
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
      ...(volume && isMade(volume) ? relabelled : {}),
    };
  });
  return [
    ...own,
    ...(bringsHosts(container)
      ? []
      : [{ containerPath: ETC_HOSTS, hostPath: etcHostsPath(paths, uid), ...relabelled }]),
    ...(container.terminationMessagePath
      ? [{ containerPath: fromRoot(container.terminationMessagePath), hostPath: terminationLog, ...relabelled }]
      : []),
  ];
}

/** Whether what is in it was made by the agent, and is nobody else's. */
function isMade(volume: Volume): boolean {
  const source = sourceOf(volume);
  return source !== undefined && source !== 'hostPath' && source !== 'nfs' && source !== 'image';
}

/** Whether a mount of its own stands where the pod's hosts file would. */
export function bringsHosts({ volumeMounts = [] }: Pick<Container, 'volumeMounts'>): boolean {
  return volumeMounts.some(({ mountPath }) => fromRoot(mountPath) === ETC_HOSTS);
}
