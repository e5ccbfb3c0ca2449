/**
 * The addresses by which a pod is known: the first one of the node's main family, then the first one of the other
 * family. The runtime tells them in the order of its network plugin (kubelet, sortPodIPs).
 */
export function podIpsInOrder(ips: readonly string[], hostIps: readonly string[]): readonly string[] {
  const main = isIPv6(hostIps[0] ?? '');
  const firstOf = (six: boolean): readonly string[] => ips.filter((ip) => isIPv6(ip) === six).slice(0, 1);
  return [...firstOf(main), ...firstOf(!main)];
}

export function isIPv6(ip: string): boolean {
  return ip.includes(':');
}
