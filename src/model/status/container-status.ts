import { RESTART_COUNT } from '../cri/labels.ts';
import { isSidecar } from '../containers.ts';
import type { ContainerDetail, ObservedContainer } from '../observed.ts';
import type { Container, Pod } from '../pod.ts';
import { rfc3339 } from '../rfc3339.ts';
import { mayRestartAll, RESTARTING_ALL } from './restart-of-all.ts';
import type { ContainerState, ContainerStatus, Probed, StatusFacts } from './status-facts.ts';
import { wasInitialized } from './was-initialized.ts';
import { mountStatuses } from './mount-statuses.ts';
import type { ResourceList } from '../pod-resources.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';

const LOCATION_UNKNOWN = 'The container could not be located when the pod was terminated';
const ENDED_UNSEEN =
  'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';
const REMOVED_TO_RESTART = 'The container is removed because RestartAllContainers in place';
const LOCATION_UNKNOWN_RUNNING =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/**
 * The status of one container (facts sheet 19.2).
 *
 * | the runtime's newest instance | state                                                                     |
 * | ----------------------------- | ------------------------------------------------------------------------- |
 * | none, never seen              | Waiting ContainerCreating, or PodInitializing in a pod with init containers |
 * | none, was running             | Waiting; the last state is Terminated 137 ContainerStatusUnknown            |
 * | none, had ended               | as it was                                                                 |
 * | none, in a pod that begins anew | Waiting RestartingAllContainers; the last state is Terminated 137         |
 * | none, of an init container in a pod that has begun | Terminated 0 Completed                             |
 * | created                       | Waiting                                                                   |
 * | running                       | Running                                                                   |
 * | any, while it is being started with its postStart hook | as it was                                      |
 * | exited                        | Terminated; Waiting with the reason while it waits for its restart        |
 * | unknown, was running          | Terminated 137 ContainerStatusUnknown                                     |
 */
export function containerStatus(
  pod: Pod,
  container: Container,
  previous: ContainerStatus | undefined,
  facts: StatusFacts,
): ContainerStatus {
  const { name } = container;
  if (facts.starting?.has(name)) return previous ?? absent(pod, container, undefined, facts);
  const instances = (facts.observed?.containers ?? []).filter((seen) => seen.name === name);
  const newest = instances[0];
  return newest
    ? present(pod, container, newest, instances[1], previous, facts)
    : absent(pod, container, previous, facts);
}

function absent(
  pod: Pod,
  container: Container,
  previous: ContainerStatus | undefined,
  facts: StatusFacts,
): ContainerStatus {
  const { observed, waiting, isEnding } = facts;
  const hasSandbox = observed?.sandboxes[0]?.state === 'ready';
  if (hasSandbox && !isEnding && mayRestartAll(pod) && (previous?.state?.running ?? previous?.state?.terminated)) {
    return removedToRestart(container, previous);
  }
  if (previous?.state?.terminated && !waiting.has(container.name)) return previous;
  if (isInit(pod, container) && !isSidecar(container) && wasInitialized(observed, pod)) return endedUnseen(container);
  const wasRunning = previous?.state?.running !== undefined;
  const lost = wasRunning ? { terminated: unknownEnd(LOCATION_UNKNOWN_RUNNING) } : (previous?.lastState ?? {});
  const count = previous?.restartCount ?? 0;
  return {
    name: container.name,
    state: { waiting: waiting.get(container.name) ?? { reason: initialReason(pod) } },
    lastState: lost,
    ready: false,
    restartCount: wasRunning && !isEnding ? count + 1 : count,
    image: container.image ?? '',
    imageID: '',
    started: false,
    ...mountStatuses(pod, container, facts.recursiveReadOnly),
  };
}

/** All its traces were removed, so that the pod begins anew. */
function removedToRestart({ name, image = '' }: Container, previous: ContainerStatus | undefined): ContainerStatus {
  return {
    name,
    state: { waiting: { reason: RESTARTING_ALL } },
    lastState: { terminated: { exitCode: 137, reason: RESTARTING_ALL, message: REMOVED_TO_RESTART } },
    ready: false,
    restartCount: (previous?.restartCount ?? 0) + 1,
    image,
    imageID: '',
    started: false,
  };
}

/** The pod has begun, so the init container has done its work, whatever became of its traces. */
function endedUnseen({ name, image = '' }: Container): ContainerStatus {
  const terminated = { exitCode: 0, reason: 'Completed', message: ENDED_UNSEEN };
  return {
    name,
    state: { terminated },
    lastState: {},
    ready: true,
    restartCount: 0,
    image,
    imageID: '',
    started: false,
  };
}

function present(
  pod: Pod,
  container: Container,
  newest: ObservedContainer,
  former: ObservedContainer | undefined,
  previous: ContainerStatus | undefined,
  { waiting, probed, runtimeName, recursiveReadOnly }: StatusFacts,
): ContainerStatus {
  const { name } = container;
  const isLost = newest.state === 'unknown' && previous?.state?.running !== undefined;
  const state = isLost ? { terminated: unknownEnd(LOCATION_UNKNOWN) } : stateOf(newest, runtimeName);
  const reason = newest.state === 'running' ? undefined : waiting.get(name);
  const ended = reason && state.terminated ? { terminated: state.terminated } : endOf(former, runtimeName);
  const isRunning = newest.state === 'running';
  return {
    name,
    state: reason ? { waiting: reason } : state,
    lastState: ended ?? (newest.attempt > 0 ? lastKnown(previous, newest, runtimeName) : {}),
    ...readiness(
      isInit(pod, container) && !isSidecar(container),
      container,
      newest,
      probed.get(name) ?? lastTold(previous, newest, runtimeName),
      isRunning && !reason,
    ),
    restartCount: restartCountOf(newest) + (isLost ? 1 : 0),
    image: newest.detail?.image ?? newest.image,
    imageID: newest.detail?.imageRef ?? newest.imageRef,
    containerID: `${runtimeName}://${newest.id}`,
    ...resourcesOf(container),
    ...mountStatuses(pod, container, recursiveReadOnly),
    ...(newest.detail?.user ? { user: { linux: newest.detail.user } } : {}),
  };
}

/** Until the probes have spoken, the same instance is what it was when it was last told: a new agent is no news. */
function lastTold(
  previous: ContainerStatus | undefined,
  { id }: ObservedContainer,
  runtimeName: string,
): Probed | undefined {
  if (previous?.containerID !== `${runtimeName}://${id}`) return undefined;
  return { started: previous.started === true, ready: previous.ready };
}

/** How the one before ended, where the runtime has no trace of it any more. */
function lastKnown(
  previous: ContainerStatus | undefined,
  { id }: ObservedContainer,
  runtimeName: string,
): ContainerState {
  const { terminated } = previous?.state ?? {};
  const isFormer = terminated?.containerID !== undefined && terminated.containerID !== `${runtimeName}://${id}`;
  return isFormer ? { terminated } : (previous?.lastState ?? {});
}

/** An init container is ready when it has done its work; the others when they run, have started and pass their probe. */
function readiness(
  endsByItself: boolean,
  container: Container,
  newest: ObservedContainer,
  verdict: Probed | undefined,
  isRunning: boolean,
): Pick<ContainerStatus, 'ready' | 'started'> {
  if (endsByItself) {
    return { ready: newest.state === 'exited' && newest.detail?.exitCode === 0, started: isRunning };
  }
  const started = isRunning && (container.startupProbe ? verdict?.started === true : true);
  return { started, ready: started && (container.readinessProbe ? verdict?.ready === true : true) };
}

function isInit({ spec }: Pod, container: Container): boolean {
  return spec.initContainers?.some(({ name }) => name === container.name) === true;
}

function stateOf(container: ObservedContainer, runtimeName: string): ContainerState {
  switch (container.state) {
    case 'created':
    case 'unknown':
      return { waiting: {} };
    case 'running':
      return { running: { startedAt: timeOf(container.detail?.startedAt ?? container.createdAt) } };
    case 'exited':
      return { terminated: terminated(container, runtimeName) };
  }
}

function endOf(container: ObservedContainer | undefined, runtimeName: string): ContainerState | undefined {
  return container?.state === 'exited' ? { terminated: terminated(container, runtimeName) } : undefined;
}

function terminated({ id, detail }: ObservedContainer, runtimeName: string): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: detail?.exitCode ?? 0,
    reason: reasonOf(detail),
    ...(detail?.message ? { message: detail.message } : {}),
    startedAt: timeOf(detail?.startedAt ?? 0),
    finishedAt: timeOf(detail?.finishedAt ?? 0),
    containerID: `${runtimeName}://${id}`,
  };
}

function unknownEnd(message: string): NonNullable<ContainerState['terminated']> {
  return { exitCode: 137, reason: 'ContainerStatusUnknown', message };
}

/** The runtime's own word, and where it has none, what the exit code tells. */
function reasonOf(detail: ContainerDetail | undefined): string {
  if (detail?.reason) return detail.reason;
  return detail?.exitCode === 0 ? 'Completed' : 'Error';
}

function restartCountOf({ annotations, attempt }: ObservedContainer): number {
  const count = Number(annotations[RESTART_COUNT] ?? attempt);
  return Number.isInteger(count) ? count : attempt;
}

function resourcesOf({ resources }: Container): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  const { requests, limits } = resources ?? {};
  return {
    ...(requests ? { allocatedResources: requests } : {}),
    resources: { ...(limits ? { limits: asEnforced(limits) } : {}), ...(requests ? { requests } : {}) },
  };
}

/** A limit of memory is told as the runtime has it, in bytes: `12M` becomes `12000000`. */
function asEnforced(limits: ResourceList): ResourceList {
  const memory = limits['memory'];
  const bytes = memory === undefined ? undefined : parseQuantity(memory);
  return bytes ? { ...limits, memory: formatQuantity({ nano: bytes.nano, format: 'binarySI' }) } : limits;
}

function initialReason({ spec }: Pod): string {
  return spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
}

/** Nanoseconds since 1970, to seconds, as the API shows times; null stands for a time that the runtime does not know. */
function timeOf(nanoseconds: number): string {
  return rfc3339(nanoseconds / 1e6);
}
