const HEADER = '# Kubernetes-managed hosts file.';
const HOST_NETWORK_HEADER = '# Kubernetes-managed hosts file (host network).';
const LOOPBACK = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** `/etc/hosts` of a pod with a network of its own (facts sheet 14). */
export function hostsFile(ips: readonly string[], hostname: string): string {
  return [HEADER, ...LOOPBACK, ...ips.map((ip) => `${ip}\t${hostname}`), ''].join('\n');
}

/** `/etc/hosts` of a pod on the node's network: the node's own file under a header. */
export function hostNetworkHostsFile(ofNode: string): string {
  return `${HOST_NETWORK_HEADER}\n${ofNode}`;
}
