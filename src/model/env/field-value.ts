import type { Pod } from '../pod.ts';

/** Addresses that a pod can learn of, its family's first one first. */
export interface PodAddresses {
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

/** What a `fieldRef` of a variable stands for (facts sheet 13); a label or annotation that is not there is empty. */
export function fieldValue({ metadata, spec }: Pod, path: string, { podIps, hostIps }: PodAddresses): string {
  const { map, key = '' } = /^metadata\.(?<map>labels|annotations)\['(?<key>.*)'\]$/.exec(path)?.groups ?? {};
  if (map === 'labels') return metadata.labels[key] ?? '';
  if (map === 'annotations') return metadata.annotations[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIps[0] ?? '';
    case 'status.hostIPs':
      return hostIps.join(',');
    case 'status.podIP':
      return podIps[0] ?? '';
    case 'status.podIPs':
      return podIps.join(',');
    default:
      return '';
  }
}
