import type { V1Lifecycle, V1LifecycleHandler, V1Probe } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ContainerDraft, Draft } from './draft.ts';
import { inRange, LARGEST_INT32, obeys, oneOf, required } from './rules.ts';
import { portName } from './syntax.ts';
import { LARGEST_PORT } from './validate-ports.ts';

/** Rules of the three probes of a container. */
export function validateProbes(container: ContainerDraft, path: FieldPath, report: Report): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  for (const [name, probe] of Object.entries({ livenessProbe, readinessProbe, startupProbe })) {
    if (probe) validateProbe(name, probe, [...path, name], report);
  }
}

function validateProbe(name: string, probe: Draft<V1Probe>, path: FieldPath, report: Report): void {
  validateHandler(probe, path, report, ['exec', 'httpGet', 'tcpSocket', 'grpc']);
  if (probe.grpc) validatePort(probe.grpc.port, [...path, 'grpc', 'port'], report);
  for (const field of TIMES) inRange(report, [...path, field], probe[field], 0, LARGEST_INT32);
  if (name !== 'readinessProbe' && probe.successThreshold !== undefined && probe.successThreshold > 1) {
    report(
      [...path, 'successThreshold'],
      `${probe.successThreshold} must be 1: only a readiness probe may count further`,
    );
  }
  const grace = [...path, 'terminationGracePeriodSeconds'];
  if (name === 'readinessProbe' && probe.terminationGracePeriodSeconds !== undefined)
    report(grace, 'has no meaning for a readiness probe, which never stops the container');
  inRange(report, grace, probe.terminationGracePeriodSeconds, 1, Number.POSITIVE_INFINITY);
}

const TIMES = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** Rules of `lifecycle`; a sleep must end within the pod's grace period, in seconds. */
export function validateLifecycle(
  lifecycle: Draft<V1Lifecycle>,
  grace: number,
  osName: string | undefined,
  path: FieldPath,
  report: Report,
): void {
  for (const name of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[name];
    if (!handler) continue;
    validateHandler(handler, [...path, name], report, ['exec', 'httpGet', 'tcpSocket', 'sleep']);
    const seconds = handler.sleep?.seconds;
    if (seconds !== undefined && (seconds < 0 || seconds > grace)) {
      report(
        [...path, name, 'sleep'],
        `${seconds} must be between 0 and the terminationGracePeriodSeconds of the pod (${grace})`,
      );
    }
  }
  const { stopSignal } = lifecycle;
  if (stopSignal === undefined) return;
  if (osName === undefined) report([...path, 'stopSignal'], 'must not be given without spec.os.name');
  if (!SIGNAL.test(stopSignal)) report([...path, 'stopSignal'], `${JSON.stringify(stopSignal)} is no signal of Linux`);
}

const SIGNAL =
  /^SIG(?:ABRT|ALRM|BUS|CHLD|CLD|CONT|FPE|HUP|ILL|INT|IO|IOT|KILL|PIPE|POLL|PROF|PWR|QUIT|SEGV|STKFLT|STOP|SYS|TERM|TRAP|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ|RTMIN(?:\+(?:[1-9]|1[0-5]))?|RTMAX(?:-(?:[1-9]|1[0-4]))?)$/;

function validateHandler(
  handler: Draft<V1Probe & V1LifecycleHandler>,
  path: FieldPath,
  report: Report,
  kinds: readonly string[],
): void {
  const given = Object.keys(handler).filter((key) => kinds.includes(key));
  if (given.length === 0) report(path, `must have one of ${kinds.join(', ')}`);
  for (const extra of given.slice(1)) report([...path, extra], `must not be given beside ${given[0] ?? ''}`);

  const { exec, httpGet, tcpSocket } = handler;
  if (exec && (exec.command ?? []).length === 0) report([...path, 'exec', 'command'], 'is required');
  if (tcpSocket) validatePort(tcpSocket.port, [...path, 'tcpSocket', 'port'], report);
  if (!httpGet) return;
  const at = [...path, 'httpGet'];
  required(report, [...at, 'path'], httpGet.path);
  validatePort(httpGet.port, [...at, 'port'], report);
  oneOf(report, [...at, 'scheme'], httpGet.scheme, ['HTTP', 'HTTPS']);
  httpGet.httpHeaders?.forEach(({ name = '' }, index) => {
    if (!/^[-A-Za-z\d]+$/.test(name))
      report([...at, 'httpHeaders', index, 'name'], `${JSON.stringify(name)} must be letters, digits and "-"`);
  });
}

function validatePort(port: number | string | undefined, path: FieldPath, report: Report): void {
  if (typeof port === 'string') {
    if (required(report, path, port)) obeys(report, path, port, portName);
  } else inRange(report, path, port ?? 0, 1, LARGEST_PORT);
}
