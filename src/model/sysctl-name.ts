/**
 * The name of a sysctl with dots. `net/ipv4/tcp_rmem` and `net.ipv4.tcp_rmem` are one, as the files below `/proc/sys`
 * are; after a first dot a slash is a dot inside of a name.
 */
export function sysctlName(name: string): string {
  return /^[^.]*\//.test(name) ? name.replaceAll(/[./]/g, (mark) => (mark === '.' ? '/' : '.')) : name;
}
