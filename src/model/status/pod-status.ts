import { deepEqual } from '../deep-equal.ts';
import { firstBytes } from '../log-lines.ts';
import type { ObservedPod } from '../observed.ts';
import type { Container, Pod, PodStatus } from '../pod.ts';
import { podLimits, podRequests, type ResourceList } from '../pod-resources.ts';
import { qosClassOf } from '../qos.ts';
import { rfc3339 } from '../rfc3339.ts';
import { datedConditions, findingsOf } from './conditions.ts';
import { containerStatus } from './container-status.ts';
import { phaseOf } from './phase.ts';
import { asksForRestartOfAll } from './restart-of-all.ts';
import type { ContainerStatus, Phase, StatusFacts } from './status-facts.ts';
import { usableSandbox } from '../usable-sandbox.ts';
import { wasInitialized } from './was-initialized.ts';

/**
 * The next status of a pod, from the last one and from what is known now (facts sheet 19, 20). Pure.
 *
 * A pod that has Succeeded or Failed never leaves that phase, and is in neither as long as it `goesOn`; `startTime` never changes; a condition keeps its time
 * until its status changes. Equal facts give the very same object, so that nothing is told or written twice.
 */
export function nextStatus(pod: Pod, previous: PodStatus | undefined, facts: StatusFacts): PodStatus {
  if (previous && isNothingKnown(facts)) return previous;
  const status = statusOf(pod, previous, facts);
  return previous && deepEqual(previous, status) ? previous : status;
}

/** The runtime has not been asked yet: what an earlier run of the agent told last is the best that there is. */
function isNothingKnown({ observed, waiting, verdict }: StatusFacts): boolean {
  return !observed && !verdict && waiting.size === 0;
}

function statusOf(pod: Pod, previous: PodStatus | undefined, facts: StatusFacts): PodStatus {
  const { observed, verdict, hostIps, now } = facts;
  const status = (container: Container): ContainerStatus =>
    withinLimit(containerStatus(pod, container, formerOf(previous, container.name), facts), count);
  const count = pod.spec.containers.length + (pod.spec.initContainers?.length ?? 0);
  const initContainerStatuses = (pod.spec.initContainers ?? []).map(status);
  const containerStatuses = pod.spec.containers.map(status).toSorted((a, b) => (a.name < b.name ? -1 : 1));

  const found = phaseOf(pod, initContainerStatuses, containerStatuses, wasInitialized(observed, pod));
  const phase = lastingPhase(previous, verdict?.phase ?? (facts.goesOn === true ? notOver(previous, found) : found));
  const why = verdict ?? (phase === previous?.phase ? previous : undefined);
  const time = rfc3339(now);
  const ips = podIps(pod, previous, facts);
  const findings = findingsOf(pod, initContainerStatuses, containerStatuses, phase, {
    hasSandbox: observed !== undefined && usableSandbox(pod, observed) !== undefined,
    restartsAll: asksForRestartOfAll(pod, observed),
    disruption: verdict?.disruption,
  });
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase,
    conditions: datedConditions(findings, previous?.conditions ?? [], time, pod.metadata.generation),
    ...(why?.message === undefined ? {} : { message: why.message }),
    ...(why?.reason === undefined ? {} : { reason: why.reason }),
    ...(hostIps[0] === undefined ? {} : { hostIP: hostIps[0], hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: previous?.startTime ?? startTimeOf(observed) ?? time,
    ...(initContainerStatuses.length === 0 ? {} : { initContainerStatuses }),
    containerStatuses,
    // Settled when the pod began: its cgroup stands below that of the class.
    qosClass: previous?.qosClass ?? qosClassOf(pod.spec),
    ...resourcesOf(pod),
  };
}

/** Fields of the pod's status that are younger than the library of types. */
interface PodResources {
  readonly allocatedResources?: ResourceList;
  readonly resources: { readonly limits?: ResourceList; readonly requests?: ResourceList };
}

/** What the pod was given as a whole; there is no telling before a first container was made. */
function resourcesOf({ spec }: Pod): PodResources {
  const requests = podRequests(spec);
  const limits = podLimits(spec);
  const isSet = (resources: ResourceList): boolean => Object.keys(resources).length > 0;
  return {
    ...(isSet(requests) ? { allocatedResources: requests } : {}),
    resources: { ...(isSet(limits) ? { limits } : {}), ...(isSet(requests) ? { requests } : {}) },
  };
}

/** Bytes of termination messages that one pod may have, shared evenly by its containers. */
const MAX_MESSAGES = 12 * 1_024;

function withinLimit(status: ContainerStatus, containers: number): ContainerStatus {
  const { terminated } = status.state ?? {};
  if (!terminated?.message) return status;
  const message = firstBytes(terminated.message, Math.floor(MAX_MESSAGES / containers));
  return { ...status, state: { terminated: { ...terminated, message } } };
}

function formerOf(previous: PodStatus | undefined, name: string): ContainerStatus | undefined {
  return [...(previous?.initContainerStatuses ?? []), ...(previous?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  );
}

function lastingPhase(previous: PodStatus | undefined, found: Phase): Phase {
  return previous?.phase === 'Succeeded' || previous?.phase === 'Failed' ? previous.phase : found;
}

/** There is no way back from Succeeded and Failed, so they are not told before the pod is done. */
function notOver(previous: PodStatus | undefined, found: Phase): Phase {
  const isOver = found === 'Succeeded' || found === 'Failed';
  return isOver ? ((previous?.phase as Phase | undefined) ?? 'Running') : found;
}

/** The addresses stay in the status of a pod that has ended, as they do in the kubelet's. */
function podIps({ spec }: Pod, previous: PodStatus | undefined, { observed, hostIps }: StatusFacts): readonly string[] {
  const newest = observed?.sandboxes[0];
  if (newest?.state === 'ready') return spec.hostNetwork === true ? hostIps : (newest.ips ?? []);
  return (previous?.podIPs ?? []).map(({ ip }) => ip);
}

/** The oldest sandbox that is still there has seen the pod start; that helps where no earlier status was kept. */
function startTimeOf(observed: ObservedPod | undefined): string | undefined {
  const oldest = observed?.sandboxes.at(-1);
  return oldest && rfc3339(oldest.createdAt / 1e6);
}
