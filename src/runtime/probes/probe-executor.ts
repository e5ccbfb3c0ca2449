import { defer, throwError, type Observable } from 'rxjs';
import type { Cri } from '../../streams/ports/cri.ts';
import type { Probe, ProbeAnswer, ProbePorts, ProbeTarget } from '../../streams/probes/probe.ts';
import { hostOf, portOf, type Address } from './address.ts';
import { probeExec } from './probe-exec.ts';
import { probeGrpc } from './probe-grpc.ts';
import { probeHttp } from './probe-http.ts';
import { probeTcp } from './probe-tcp.ts';

/** Asks containers as the kubelet does: a command in the container, or a connection of its own for every question. */
export function probeExecutor(cri: Pick<Cri, 'execSync'>): ProbePorts['probe'] {
  return (target, probe) => defer(() => ask(cri, target, probe));
}

function ask(cri: Pick<Cri, 'execSync'>, target: ProbeTarget, probe: Probe): Observable<ProbeAnswer> {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const timeout = 1_000 * (probe.timeoutSeconds ?? 1);
  const addressOf = (port: number | string, host?: string): Address => ({
    host: hostOf(target, host),
    port: portOf(target.container, port),
  });

  if (exec) return probeExec(cri, target, exec.command ?? [], timeout);
  if (httpGet) return probeHttp(addressOf(httpGet.port, httpGet.host), httpGet, timeout);
  if (tcpSocket) return probeTcp(addressOf(tcpSocket.port, tcpSocket.host), timeout);
  if (grpc) return probeGrpc(addressOf(grpc.port), grpc.service ?? '', timeout);
  return throwError(() => new Error(`container ${target.container.name} has a ${target.kind} probe that asks nothing`));
}
