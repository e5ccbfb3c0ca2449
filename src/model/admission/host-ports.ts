import { isSidecar } from '../containers.ts';
import type { Pod } from '../pod.ts';

interface HostPort {
  readonly protocol: string;
  readonly ip: string;
  readonly port: number;
}

/** Whether two pods want the same port of the node: same protocol and number, and an address in common. */
export function sharesHostPort(a: Pod, b: Pod): boolean {
  const taken = hostPortsOf(a);
  return taken.length > 0 && hostPortsOf(b).some((port) => taken.some((other) => collide(port, other)));
}

export function wantsHostPort(pod: Pod): boolean {
  return hostPortsOf(pod).length > 0;
}

const KNOWN = new WeakMap<Pod, readonly HostPort[]>();

function hostPortsOf(pod: Pod): readonly HostPort[] {
  const ports = KNOWN.get(pod) ?? portsIn(pod);
  KNOWN.set(pod, ports);
  return ports;
}

/** Init containers have ended before anything else of the pod could need their port; sidecars have not. */
function portsIn({ spec }: Pod): readonly HostPort[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }) =>
      hostPort > 0 ? [{ protocol, ip: hostIP === '' ? ANY : hostIP, port: hostPort }] : [],
    ),
  );
}

function collide(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === ANY || b.ip === ANY);
}

const ANY = '0.0.0.0';
