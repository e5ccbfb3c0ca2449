import { containerHash } from '../model/container-hash.ts';
import type { ContainerConfig, KeyValue, LinuxContainerSecurityContext, Mount } from '../model/cri/api.ts';
import * as keys from '../model/cri/labels.ts';
import { goJson } from '../model/go-json.ts';
import { expand } from '../model/expand.ts';
import { containerLogPath, emptyDirPath, etcHostsPath } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import { containerResources } from '../model/resources.ts';
import type { RuntimeContext } from './context.ts';
import { namespaceOptions } from './sandbox-config.ts';

/** An image as the node holds it: by what to name it, and as whom it wants to run. */
export interface LocalImage {
  readonly ref: string;
  readonly uid?: number;
  readonly username?: string;
}

/** What `CreateContainer` is asked for (facts sheet 10.2). `terminationLog` is a file of the node. */
export function containerConfig(
  pod: Pod,
  container: Container,
  restartCount: number,
  image: LocalImage,
  terminationLog: string,
  context: RuntimeContext,
): ContainerConfig {
  const { name, workingDir, stdin, stdinOnce, tty } = container;
  const environment = environmentOf(container);
  const withVariables = (text: string): string => expand(text, environment);
  return {
    metadata: { name, attempt: restartCount },
    image: { image: image.ref, userSpecifiedImage: container.image ?? '' },
    command: (container.command ?? []).map(withVariables),
    args: (container.args ?? []).map(withVariables),
    workingDir: workingDir ?? '',
    envs: [...environment].map(keyValue),
    mounts: mountsOf(pod, container, terminationLog, context),
    labels: { ...keys.podLabels(pod), [keys.CONTAINER_NAME]: name },
    annotations: annotationsOf(pod, container, restartCount),
    logPath: containerLogPath(name, restartCount),
    stdin: stdin === true,
    stdinOnce: stdinOnce === true,
    tty: tty === true,
    linux: {
      resources: containerResources(pod.spec, container, context.rules),
      securityContext: securityContextOf(pod, image, context),
    },
  };
}

/** Later entries see earlier ones, and the last one of a name wins. */
function environmentOf({ env }: Container): ReadonlyMap<string, string> {
  const environment = new Map<string, string>();
  for (const { name, value } of env ?? []) environment.set(name, expand(value ?? '', environment));
  return environment;
}

function keyValue([key, value]: readonly [string, string]): KeyValue {
  return { key, value: new TextEncoder().encode(value) };
}

function annotationsOf({ spec }: Pod, container: Container, restartCount: number): Readonly<Record<string, string>> {
  const { name, image, ports, terminationMessagePath, terminationMessagePolicy } = container;
  return {
    [keys.CONTAINER_HASH]: containerHash(name, image ?? ''),
    [keys.RESTART_COUNT]: String(restartCount),
    [keys.TERMINATION_MESSAGE_PATH]: terminationMessagePath ?? '',
    [keys.TERMINATION_MESSAGE_POLICY]: terminationMessagePolicy ?? '',
    [keys.TERMINATION_GRACE]: String(spec.terminationGracePeriodSeconds ?? 30),
    ...(container.lifecycle?.preStop ? { [keys.PRE_STOP_HANDLER]: goJson(container.lifecycle.preStop) } : {}),
    ...(ports === undefined || ports.length === 0 ? {} : { [keys.CONTAINER_PORTS]: portsAnnotation(ports) }),
  };
}

/** In the order of Go's struct fields, since the kubelet's text is compared. */
function portsAnnotation(ports: NonNullable<Container['ports']>): string {
  return JSON.stringify(
    ports.map(({ name, hostPort, containerPort, protocol, hostIP }) => ({
      ...(name ? { name } : {}),
      ...(hostPort ? { hostPort } : {}),
      containerPort,
      protocol,
      ...(hostIP ? { hostIP } : {}),
    })),
  );
}

const ETC_HOSTS = '/etc/hosts';

function mountsOf(pod: Pod, container: Container, terminationLog: string, { paths }: RuntimeContext): readonly Mount[] {
  const own = (container.volumeMounts ?? []).map((mount): Mount => {
    const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
    return {
      containerPath: mount.mountPath,
      hostPath: volume?.hostPath?.path ?? emptyDirPath(paths, pod.metadata.uid, mount.name),
      readonly: mount.readOnly === true,
      propagation: 'PROPAGATION_PRIVATE',
    };
  });
  const bringsHosts = own.some(({ containerPath }) => containerPath === ETC_HOSTS);
  return [
    ...own,
    ...(bringsHosts ? [] : [{ containerPath: ETC_HOSTS, hostPath: etcHostsPath(paths, pod.metadata.uid) }]),
    ...(container.terminationMessagePath
      ? [{ containerPath: container.terminationMessagePath, hostPath: terminationLog }]
      : []),
  ];
}

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function securityContextOf(
  { spec }: Pod,
  { uid, username }: LocalImage,
  { facts }: RuntimeContext,
): LinuxContainerSecurityContext {
  return {
    namespaceOptions: namespaceOptions(spec),
    ...(uid === undefined && username ? { runAsUsername: username } : { runAsUser: { value: uid ?? 0 } }),
    maskedPaths: [...MASKED_PATHS, ...facts.thermalThrottlePaths],
    readonlyPaths: READONLY_PATHS,
    seccomp: { profileType: 'Unconfined' },
  };
}
