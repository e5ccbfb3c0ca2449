import type { Pod } from './pod.ts';

const LONGEST_LABEL = 63;
const LONGEST_KERNEL_NAME = 64;

/** How a pod is called in its network: `domain` is there where the pod is in a subdomain. */
export interface PodNames {
  readonly hostname: string;
  readonly domain?: string;
}

export type KernelName =
  { readonly kind: 'name'; readonly name: string } | { readonly kind: 'tooLong'; readonly message: string };

type Named = Pick<Pod, 'metadata' | 'spec'>;

/**
 * Host name and domain of a pod: `spec.hostnameOverride`, else `spec.hostname`, else its name, cut to what DNS takes
 * (facts sheet 14).
 */
export function podNames({ metadata, spec }: Named, clusterDomain: string): PodNames {
  if (spec.hostnameOverride !== undefined && spec.hostnameOverride !== '') return { hostname: spec.hostnameOverride };
  const wanted = spec.hostname !== undefined && spec.hostname !== '' ? spec.hostname : metadata.name;
  const hostname = wanted.slice(0, LONGEST_LABEL).replace(/[-.]+$/, '');
  if (spec.subdomain === undefined || spec.subdomain === '') return { hostname };
  return { hostname, domain: `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` };
}

/** What `hostname` says in the pod; with `setHostnameAsFQDN` the domain belongs to it, if Linux takes so long a name. */
export function kernelName(pod: Named, clusterDomain: string): KernelName {
  const { hostname, domain } = podNames(pod, clusterDomain);
  if (pod.spec.setHostnameAsFQDN !== true || domain === undefined) return { kind: 'name', name: hostname };
  const name = `${hostname}.${domain}`;
  if (name.length <= LONGEST_KERNEL_NAME) return { kind: 'name', name };
  const limit = `${LONGEST_KERNEL_NAME} characters is the max, ${name.length} characters requested`;
  return {
    kind: 'tooLong',
    message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long (${limit})`,
  };
}
