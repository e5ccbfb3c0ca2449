import type { PodNames } from './hostname.ts';
import type { PodSpec } from './pod.ts';

const HEADER = '# Kubernetes-managed hosts file.';
const HOST_NETWORK_HEADER = '# Kubernetes-managed hosts file (host network).';
const ALIASES_HEADER = '# Entries added by HostAliases.';
const LOOPBACK = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

type HostAliases = NonNullable<PodSpec['hostAliases']>;

/** `/etc/hosts` of a pod with a network of its own (facts sheet 14). */
export function hostsFile(ips: readonly string[], { hostname, domain }: PodNames, aliases: HostAliases = []): string {
  const names = domain === undefined ? hostname : `${hostname}.${domain}\t${hostname}`;
  return [HEADER, ...LOOPBACK, ...ips.map((ip) => `${ip}\t${names}`), ''].join('\n') + aliasLines(aliases);
}

/** `/etc/hosts` of a pod on the node's network: the node's own file under a header. */
export function hostNetworkHostsFile(ofNode: string, aliases: HostAliases = []): string {
  return `${HOST_NETWORK_HEADER}\n${ofNode}${aliasLines(aliases)}`;
}

function aliasLines(aliases: HostAliases): string {
  if (aliases.length === 0) return '';
  return ['', ALIASES_HEADER, ...aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t')), ''].join('\n');
}
