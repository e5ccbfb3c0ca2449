import { isSidecar } from '../containers.ts';
import type { Pod } from '../pod.ts';
import { mayRestartAll } from './restart-of-all.ts';
import type { Condition, ContainerStatus, Phase } from './status-facts.ts';

/** A condition before it is known since when it holds. */
export type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

interface Circumstances {
  /** It has a sandbox in which it can go on. */
  readonly hasSandbox: boolean;
  readonly restartsAll?: boolean;
  /** Why the node ends it for the sake of others. */
  readonly disruption?: string | undefined;
}

/** The conditions of a pod, in the kubelet's order (facts sheet 20). */
export function findingsOf(
  pod: Pod,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
  phase: Phase,
  { hasSandbox, restartsAll = false, disruption }: Circumstances,
): readonly Finding[] {
  const containersReady = containersReadyOf(pod, init, regular, phase);
  return [
    finding('PodReadyToStartContainers', hasSandbox),
    initializedOf(pod, init, regular, phase),
    { ...containersReady, type: 'Ready' },
    containersReady,
    finding('PodScheduled', true),
    ...(mayRestartAll(pod) ? [restartingOf(restartsAll)] : []),
    ...(disruption === undefined ? [] : [disruptedFor(disruption)]),
  ];
}

/** Gives every finding its time: that of the former one as long as its status is the same (kubelet, status manager). */
export function datedConditions(
  findings: readonly Finding[],
  previous: readonly Condition[],
  now: string,
  generation: number | undefined,
): readonly Condition[] {
  return findings.map((found) => {
    const before = previous.find(({ type }) => type === found.type);
    const lastTransitionTime = before?.status === found.status ? (before.lastTransitionTime ?? now) : now;
    return { ...found, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  });
}

/** Told only of pods that can do it. */
function restartingOf(restartsAll: boolean): Finding {
  const found = finding('AllContainersRestarting', restartsAll);
  return restartsAll ? { ...found, reason: 'RestartAllContainersStarted' } : found;
}

/** Told only of what the node ends for the sake of others (facts sheet 4). */
function disruptedFor(message: string): Finding {
  return { ...finding('DisruptionTarget', true), reason: 'TerminationByKubelet', message };
}

function initializedOf(
  { spec }: Pod,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
  phase: Phase,
): Finding {
  if (phase === 'Succeeded') return { ...finding('Initialized', true), reason: 'PodCompleted' };
  if (regular.some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated)) {
    return finding('Initialized', true);
  }
  const incomplete = (spec.initContainers ?? [])
    .filter((container) => {
      const status = init.find(({ name }) => name === container.name);
      return isSidecar(container) ? status?.started !== true : status?.ready !== true;
    })
    .map(({ name }) => name);
  if (incomplete.length === 0) return finding('Initialized', true);
  return {
    ...finding('Initialized', false),
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${incomplete.join(' ')}]`,
  };
}

/** Sidecars count like regular containers; the other init containers are done by the time that this can hold. */
function containersReadyOf(
  { spec }: Pod,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
  phase: Phase,
): Finding {
  const type = 'ContainersReady';
  if (phase === 'Succeeded') return { ...finding(type, false), reason: 'PodCompleted' };
  if (phase === 'Failed') return { ...finding(type, false), reason: 'PodFailed' };

  const statuses = [...init, ...regular];
  const counted = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].map(({ name }) => name);
  const unready = counted.filter((name) => statuses.find((status) => status.name === name)?.ready !== true);
  if (unready.length === 0) return finding(type, true);
  return {
    ...finding(type, false),
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
  };
}

function finding(type: string, holds: boolean): Finding {
  return { type, status: holds ? 'True' : 'False' };
}
