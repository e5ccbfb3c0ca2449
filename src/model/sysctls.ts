import type { Pod, PodSpec } from './pod.ts';
import { sysctlName } from './sysctl-name.ts';

/**
 * Sysctls that cannot harm other pods (facts sheet 12). The kubelet asks for the age of the kernel with some of them;
 * every kernel on which Node 20 runs has them all.
 */
const SAFE: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
];

/** Why the sysctls of a pod are refused: a `SysctlForbidden` of admission. `undefined` where they are not. */
export function checkSysctls(
  { spec }: Pick<Pod, 'spec'>,
  allowedUnsafeSysctls: readonly string[],
): { readonly reason: 'SysctlForbidden'; readonly message: string } | undefined {
  const allowed = [...SAFE, ...allowedUnsafeSysctls.map(sysctlName)];
  const problem = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => sysctlProblem(name, spec, allowed))
    .find((found) => found !== undefined);
  return problem === undefined ? undefined : { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
}

/** The sysctls of a pod by name, as the runtime takes them; with its defaults a pod has got names with dots. */
export function sysctlsOf({ securityContext }: PodSpec): Readonly<Record<string, string>> {
  return Object.fromEntries((securityContext?.sysctls ?? []).map(({ name, value }) => [name, value]));
}

function sysctlProblem(
  name: string,
  { hostNetwork, hostIPC }: PodSpec,
  allowed: readonly string[],
): string | undefined {
  const isAllowed = allowed.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  if (!isAllowed) return `"${name}" not allowlisted`;
  if (hostNetwork === true && name.startsWith('net.')) return `"${name}" not allowed with host net enabled`;
  if (hostIPC === true && IPC.test(name)) return `"${name}" not allowed with host ipc enabled`;
  return undefined;
}

const IPC = /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/;
