import type { Container, PodStatus } from '../../model/pod.ts';
import { parseDuration } from '../../model/config/parse-duration.ts';
import { describeTime } from './describe-time.ts';
import type { Block, Row } from './key-values.ts';
import { wrap } from './wrap.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type State = NonNullable<ContainerStatus['state']>;

/**
 * Everything about one container: what it is to be, how it is, and how it was before. `now` is in milliseconds since
 * 1970; messages are broken to fit `columns`.
 */
export function describeContainer(
  container: Container,
  status: ContainerStatus | undefined,
  now: number,
  columns: number,
): Row {
  const { image = '', command = [], args = [], ports = [], resources, env = [], envFrom = [] } = container;
  return [
    container.name,
    {
      block: [
        status?.containerID ? ['Container ID', status.containerID] : undefined,
        ['Image', image],
        status?.imageID ? ['Image ID', status.imageID] : undefined,
        ['Ports', ports.length === 0 ? '<none>' : ports.map(portOf).join(', ')],
        command.length === 0 ? undefined : ['Command', command.map(oneLine)],
        args.length === 0 ? undefined : ['Args', args.map(oneLine)],
        ...describeState('State', status?.state, columns),
        ...nextStart(status, now),
        ...(hasAny(status?.lastState) ? describeState('Last State', status?.lastState, columns) : []),
        ['Ready', status?.ready === true ? 'True' : 'False'],
        ['Restart Count', String(status?.restartCount ?? 0)],
        ...amounts('Limits', resources?.limits),
        ...amounts('Requests', resources?.requests),
        ...(['liveness', 'readiness', 'startup'] as const).map((kind) => probeOf(kind, container)),
        envFrom.length === 0 ? undefined : ['Environment From', envFrom.map(envFromOf)],
        env.length === 0 ? undefined : ['Environment', { block: env.map((one): Row => [one.name, valueOf(one)]) }],
        ['Mounts', (container.volumeMounts ?? []).map(mountOf)],
      ],
    },
  ];
}

/** What stands left of a message: indent, key and gap. */
const BEFORE_MESSAGE = 20;

function describeState(title: string, state: State | undefined, columns: number): Block {
  const lines = (text: string): readonly string[] => wrap(text.trim(), columns - BEFORE_MESSAGE, '', '');
  if (state?.running)
    return [
      [title, 'Running'],
      ['  Started', describeTime(state.running.startedAt)],
    ];
  if (state?.terminated) {
    const { reason = '', exitCode, signal, startedAt, finishedAt, message } = state.terminated;
    return [
      [title, 'Terminated'],
      reason === '' ? undefined : ['  Reason', reason],
      message ? ['  Message', lines(message)] : undefined,
      ['  Exit Code', String(exitCode)],
      signal ? ['  Signal', String(signal)] : undefined,
      ['  Started', describeTime(startedAt)],
      ['  Finished', describeTime(finishedAt)],
    ];
  }
  const { reason = '', message = '' } = state?.waiting ?? {};
  return [
    [title, 'Waiting'],
    reason === '' ? undefined : ['  Reason', reason],
    message === '' ? undefined : ['  Message', lines(message)],
  ];
}

/** The back-off counts from the end of the container; how long it is stands in the message (kubelet, doBackOff). */
function nextStart(status: ContainerStatus | undefined, now: number): Block {
  const { reason, message = '' } = status?.state?.waiting ?? {};
  const ended = status?.lastState?.terminated?.finishedAt;
  const delay = /^back-off (\S+) restarting/.exec(message)?.[1];
  if (reason !== 'CrashLoopBackOff' || !ended || delay === undefined) return [];
  const wait = parseDuration(delay);
  if (wait === undefined) return [];
  const at = Date.parse(ended) + wait;
  return [['  Next Start', at > now ? `in ${Math.ceil((at - now) / 1_000)}s` : 'now']];
}

function hasAny(state: State | undefined): boolean {
  return state?.running !== undefined || state?.terminated !== undefined || state?.waiting !== undefined;
}

function portOf({ containerPort, hostPort, protocol = 'TCP', name }: NonNullable<Container['ports']>[number]): string {
  const host = hostPort ? ` (host ${hostPort})` : '';
  return `${name ? `${name} ` : ''}${containerPort}/${protocol}${host}`;
}

function amounts(title: string, list: Readonly<Record<string, string>> | undefined): Block {
  const entries = Object.entries(list ?? {});
  return entries.length === 0 ? [] : [[title, entries.map(([name, amount]) => `${name} ${amount}`).join(', ')]];
}

function probeOf(kind: 'liveness' | 'readiness' | 'startup', container: Container): Row | undefined {
  const probe = container[`${kind}Probe`];
  if (!probe) return undefined;
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const host = httpGet?.host ?? tcpSocket?.host ?? '';
  const what = exec
    ? `exec [${(exec.command ?? []).map(oneLine).join(' ')}]`
    : httpGet
      ? `http-get ${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${host}:${httpGet.port}${httpGet.path ?? ''}`
      : tcpSocket
        ? `tcp-socket ${host}:${tcpSocket.port}`
        : `grpc :${grpc?.port ?? ''}${grpc?.service ? ` ${grpc.service}` : ''}`;
  const { initialDelaySeconds: delay = 0, timeoutSeconds = 1, periodSeconds = 10 } = probe;
  const { successThreshold = 1, failureThreshold = 3 } = probe;
  const when = `delay=${delay}s timeout=${timeoutSeconds}s period=${periodSeconds}s #success=${successThreshold} #failure=${failureThreshold}`;
  return [TITLES[kind], [what, when]];
}

const TITLES = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;

function valueOf({ value = '', valueFrom }: NonNullable<Container['env']>[number]): string | readonly string[] {
  if (!valueFrom) return value === '' ? '' : value.split('\n');
  const { secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef, fileKeyRef } = valueFrom;
  if (secretKeyRef) return `<the key ${secretKeyRef.key} of the Secret ${secretKeyRef.name ?? ''}>`;
  if (configMapKeyRef) return `<the key ${configMapKeyRef.key} of the ConfigMap ${configMapKeyRef.name ?? ''}>`;
  if (fieldRef) return `<the field ${fieldRef.fieldPath}>`;
  if (resourceFieldRef) return `<the amount ${resourceFieldRef.resource}>`;
  return fileKeyRef ? `<the key ${fileKeyRef.key} of a file in ${fileKeyRef.volumeName}>` : '';
}

function envFromOf({ prefix, secretRef, configMapRef }: NonNullable<Container['envFrom']>[number]): string {
  const from = secretRef ? `Secret ${secretRef.name ?? ''}` : `ConfigMap ${configMapRef?.name ?? ''}`;
  return prefix ? `${from}, names beginning with ${prefix}` : from;
}

function mountOf({
  mountPath,
  name,
  readOnly,
  subPath,
  subPathExpr,
}: NonNullable<Container['volumeMounts']>[number]): string {
  const path = subPath ?? subPathExpr;
  return `${mountPath} from ${name} (${readOnly === true ? 'ro' : 'rw'}${path ? `, path ${path}` : ''})`;
}

function oneLine(text: string): string {
  return text.includes('\n') ? JSON.stringify(text) : text;
}
