import type {
  Container,
  ContainerEventResponse,
  ContainerEventType,
  ContainerFilter,
  ContainerState,
  ContainerStatus,
  PodSandbox,
  PodSandboxFilter,
  PodSandboxState,
  PodSandboxStatus,
} from '../model/cri/api.ts';
import { logPathOf } from './container-logs.ts';
import type { Happening, SimulatedContainer, SimulatedSandbox } from './node-objects.ts';

// Answers have the shape that they have on the wire: what is zero, empty or the first of its enumeration is absent.

const CONTAINER_STATE = {
  created: undefined, // CONTAINER_CREATED
  running: 'CONTAINER_RUNNING',
  exited: 'CONTAINER_EXITED',
} as const satisfies Record<SimulatedContainer['state'], ContainerState | undefined>;

const SANDBOX_STATE = {
  ready: undefined, // SANDBOX_READY
  notReady: 'SANDBOX_NOTREADY',
} as const satisfies Record<SimulatedSandbox['state'], PodSandboxState | undefined>;

const EVENT_TYPE = {
  created: undefined, // CONTAINER_CREATED_EVENT
  started: 'CONTAINER_STARTED_EVENT',
  exited: 'CONTAINER_STOPPED_EVENT',
  removed: 'CONTAINER_DELETED_EVENT',
} as const satisfies Record<Happening['kind'], ContainerEventType | undefined>;

/** What is told of an object, which is another object whenever anything of it is other than it was. */
const listed = {
  sandboxes: new WeakMap<SimulatedSandbox, PodSandbox>(),
  containers: new WeakMap<SimulatedContainer, Container>(),
  statuses: new WeakMap<SimulatedContainer, ContainerStatus>(),
};

export function listedSandbox(sandbox: SimulatedSandbox): PodSandbox {
  const known = listed.sandboxes.get(sandbox);
  if (known) return known;
  const answer = sandboxItem(sandbox);
  listed.sandboxes.set(sandbox, answer);
  return answer;
}

function sandboxItem(sandbox: SimulatedSandbox): PodSandbox {
  const { id, config, state, createdAt, runtimeHandler } = sandbox;
  return {
    id,
    metadata: { ...config.metadata, attempt: absentIfZero(config.metadata?.attempt) },
    state: SANDBOX_STATE[state],
    createdAt,
    labels: absentIfEmpty(config.labels),
    annotations: absentIfEmpty(config.annotations),
    runtimeHandler: absentIfZero(runtimeHandler),
  };
}

export function sandboxStatus(sandbox: SimulatedSandbox): PodSandboxStatus {
  const { ip, state, config } = sandbox;
  const options = config.linux?.securityContext?.namespaceOptions;
  return {
    ...listedSandbox(sandbox),
    network: { ip: state === 'ready' ? ip : undefined, additionalIps: [] },
    linux: { namespaces: { options } },
  };
}

export function listedContainer(container: SimulatedContainer): Container {
  const known = listed.containers.get(container);
  if (known) return known;
  const answer = containerItem(container);
  listed.containers.set(container, answer);
  return answer;
}

function containerItem(container: SimulatedContainer): Container {
  const { id, sandboxId, config, state, createdAt, imageRef } = container;
  return {
    id,
    podSandboxId: sandboxId,
    metadata: { ...config.metadata, attempt: absentIfZero(config.metadata?.attempt) },
    image: config.image,
    imageRef,
    imageId: imageRef,
    state: CONTAINER_STATE[state],
    createdAt,
    labels: absentIfEmpty(config.labels),
    annotations: absentIfEmpty(config.annotations),
  };
}

/** `sandbox` is the one in which the container is. */
export function containerStatus(container: SimulatedContainer, sandbox: SimulatedSandbox | undefined): ContainerStatus {
  const known = listed.statuses.get(container);
  if (known) return known;
  const answer = statusItem(container, sandbox);
  listed.statuses.set(container, answer);
  return answer;
}

function statusItem(container: SimulatedContainer, sandbox: SimulatedSandbox | undefined): ContainerStatus {
  const { podSandboxId: _, ...item } = listedContainer(container);
  const { config, startedAt, finishedAt, exitCode, reason, message, resources } = container;
  return {
    ...item,
    startedAt: absentIfZero(startedAt),
    finishedAt: absentIfZero(finishedAt),
    exitCode: absentIfZero(exitCode),
    reason: absentIfZero(reason),
    message: absentIfZero(message),
    mounts: config.mounts ?? [],
    logPath: logPathOf(container, sandbox),
    resources: { linux: resources },
  };
}

export function eventOf(
  { kind, at, sandbox, container }: Happening,
  containers: readonly SimulatedContainer[],
): ContainerEventResponse {
  return {
    containerId: container?.id ?? sandbox.id,
    containerEventType: EVENT_TYPE[kind],
    createdAt: at * 1e6,
    podSandboxStatus: sandboxStatus(sandbox),
    containersStatuses: containers.map((each) => containerStatus(each, sandbox)),
  };
}

/** A wrapped state that is absent asks for the first one: READY, CREATED. */
export function sandboxMatches(filter: PodSandboxFilter = {}): (sandbox: SimulatedSandbox) => boolean {
  const { id, state } = filter;
  const labelsMatch = labelMatcher(filter.labelSelector);
  return (sandbox) =>
    idMatches(sandbox.id, id) &&
    (state === undefined || (state.state ?? 'SANDBOX_READY') === (SANDBOX_STATE[sandbox.state] ?? 'SANDBOX_READY')) &&
    labelsMatch(sandbox.config.labels);
}

export function containerMatches(filter: ContainerFilter = {}): (container: SimulatedContainer) => boolean {
  const { id, state, podSandboxId } = filter;
  const labelsMatch = labelMatcher(filter.labelSelector);
  return (container) =>
    idMatches(container.id, id) &&
    idMatches(container.sandboxId, podSandboxId) &&
    (state === undefined ||
      (state.state ?? 'CONTAINER_CREATED') === (CONTAINER_STATE[container.state] ?? 'CONTAINER_CREATED')) &&
    labelsMatch(container.config.labels);
}

/** Runtimes take the beginning of an id for the id. */
function idMatches(id: string, wanted = ''): boolean {
  return id.startsWith(wanted);
}

function labelMatcher(
  selector: Readonly<Record<string, string>> = {},
): (labels: Readonly<Record<string, string>> | undefined) => boolean {
  const wanted = Object.entries(selector);
  return (labels = {}) => wanted.every(([key, value]) => labels[key] === value);
}

function absentIfZero<T extends string | number>(value: T | undefined): T | undefined {
  return value === 0 || value === '' ? undefined : value;
}

function absentIfEmpty<T extends object>(record: T | undefined): T | undefined {
  return record === undefined || Object.keys(record).length === 0 ? undefined : record;
}
