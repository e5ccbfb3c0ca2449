import { containerHash } from '../model/container-hash.ts';
import type { ContainerConfig, KeyValue, UserNamespace } from '../model/cri/api.ts';
import * as keys from '../model/cri/labels.ts';
import { goJson } from '../model/go-json.ts';
import { hasSecretInCommand } from '../model/env/secret-in-command.ts';
import { expand } from '../model/expand.ts';
import type { LocalImage } from '../model/local-image.ts';
import { containerLogPath } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import { containerResources } from '../model/resources.ts';
import { containerSecurity } from '../model/security/container-security.ts';
import type { RuntimeContext } from './context.ts';
import type { Environment } from './environment.ts';
import { mountsOf } from './mounts.ts';
import { namespaceOptions } from './sandbox-config.ts';

/** What of a container is not in its pod's spec. */
export interface Making {
  readonly restartCount: number;
  readonly image: LocalImage;
  readonly environment: Environment;
  /** A file of the node. */
  readonly terminationLog: string;
  /** Absent where the pod shares the node's users. */
  readonly userNamespace?: UserNamespace;
  /** Of the objects that its variables are from; absent where a change of those is to change nothing. */
  readonly configHash?: string;
}

type Ground = Pick<RuntimeContext, 'config' | 'facts' | 'rules' | 'paths'>;

/** What `CreateContainer` is asked for (facts sheet 10.2). */
export function containerConfig(
  pod: Pod,
  container: Container,
  { restartCount, image, environment, terminationLog, userNamespace, configHash }: Making,
  { config, facts, rules, paths }: Ground,
): ContainerConfig {
  const { name, workingDir, stdin, stdinOnce, tty } = container;
  const { seccompDefault } = config;
  const { thermalThrottlePaths } = facts;
  const withVariables = (text: string): string => expand(text, environment);
  return {
    metadata: { name, attempt: restartCount },
    image: { image: image.ref, userSpecifiedImage: container.image ?? '' },
    command: (container.command ?? []).map(withVariables),
    args: (container.args ?? []).map(withVariables),
    workingDir: workingDir ?? '',
    envs: [...environment].map(keyValue),
    mounts: mountsOf(pod, container, terminationLog, { paths, facts }),
    labels: { ...keys.podLabels(pod), [keys.CONTAINER_NAME]: name },
    annotations: {
      ...annotationsOf(pod, container, restartCount),
      ...(configHash === undefined ? {} : { [keys.CONFIG_HASH]: configHash }),
      ...(hasSecretInCommand(container) ? { [keys.SECRET_IN_COMMAND]: 'true' } : {}),
    },
    logPath: containerLogPath(name, restartCount),
    stdin: stdin === true,
    stdinOnce: stdinOnce === true,
    tty: tty === true,
    linux: {
      resources: containerResources(pod.spec, container, rules),
      securityContext: {
        namespaceOptions: namespaceOptions(pod.spec, userNamespace),
        ...containerSecurity(pod, container, image, { rootDir: paths.rootDir, seccompDefault, thermalThrottlePaths }),
      },
    },
  };
}

function keyValue([key, value]: readonly [string, string]): KeyValue {
  return { key, value: new TextEncoder().encode(value) };
}

function annotationsOf(
  { metadata, spec }: Pod,
  container: Container,
  restartCount: number,
): Readonly<Record<string, string>> {
  const { name, image, ports, terminationMessagePath, terminationMessagePolicy } = container;
  const { deletionGracePeriodSeconds } = metadata;
  return {
    [keys.CONTAINER_HASH]: containerHash(name, image ?? ''),
    [keys.RESTART_COUNT]: String(restartCount),
    [keys.TERMINATION_MESSAGE_PATH]: terminationMessagePath ?? '',
    [keys.TERMINATION_MESSAGE_POLICY]: terminationMessagePolicy ?? '',
    [keys.TERMINATION_GRACE]: String(spec.terminationGracePeriodSeconds ?? 30),
    ...(deletionGracePeriodSeconds === undefined ? {} : { [keys.DELETION_GRACE]: String(deletionGracePeriodSeconds) }),
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
