import type { Container } from '../../model/pod.ts';
import type { ProbeTarget } from '../../streams/probes/probe.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function textOf({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The host that the probe names, else the pod's own address; a pod in the network of the host is on this machine. */
export function hostOf({ pod, podIp }: Pick<ProbeTarget, 'pod' | 'podIp'>, named: string | undefined): string {
  if (named !== undefined && named !== '') return named;
  if (podIp !== undefined) return podIp;
  if (pod.spec.hostNetwork === true) return 'localhost';
  throw new Error('the address of the pod is not known yet');
}

/** A port by number, or by the name that it has in the same container. Throws in the kubelet's words. */
export function portOf({ ports = [] }: Pick<Container, 'ports'>, port: number | string): number {
  const number =
    typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? parse(port));
  if (number < 1 || number > 65_535) throw new Error(`invalid port number: ${number}`);
  return number;
}

function parse(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
