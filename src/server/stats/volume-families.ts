import { gauge, type Family, type Sample } from '../metrics/family.ts';
import type { PodBook } from '../../streams/book/pod-book.ts';
import type { CollectedVolume, CollectedVolumes } from './collect-volumes.ts';

/** What `/metrics` tells of the folders of claims, each once whoever uses it; the kubelet's names. */
export function volumeFamilies(volumes: CollectedVolumes, { entries }: PodBook): readonly Family[] {
  const claims = new Map<string, { readonly namespace: string; readonly volume: CollectedVolume }>();
  for (const [uid, ofPod] of volumes) {
    const namespace = entries.get(uid)?.of.namespace ?? '';
    for (const volume of ofPod)
      if (volume.claim !== undefined) claims.set(`${namespace}/${volume.claim}`, { namespace, volume });
  }
  const each = (valueOf: (volume: CollectedVolume) => number | undefined): readonly Sample[] =>
    [...claims.values()].flatMap(({ namespace, volume }) => {
      const value = valueOf(volume);
      return value === undefined ? [] : [{ labels: { namespace, persistentvolumeclaim: volume.claim ?? '' }, value }];
    });
  const name = 'kubelet_volume_stats';
  return [
    gauge(
      `${name}_capacity_bytes`,
      'Bytes that the disk of a claim can hold.',
      each(({ disk }) => disk.capacity),
    ),
    gauge(
      `${name}_available_bytes`,
      'Bytes that are free there.',
      each(({ disk }) => disk.available),
    ),
    gauge(
      `${name}_used_bytes`,
      'Bytes that are in the folder of the claim.',
      each(({ used }) => used?.bytes),
    ),
    gauge(
      `${name}_inodes`,
      'Inodes that the disk of a claim has.',
      each(({ disk }) => disk.inodes),
    ),
    gauge(
      `${name}_inodes_free`,
      'Inodes that are free there.',
      each(({ disk }) => disk.inodesFree),
    ),
    gauge(
      `${name}_inodes_used`,
      'Inodes that the folder of the claim takes.',
      each(({ used }) => used?.inodes),
    ),
  ];
}
