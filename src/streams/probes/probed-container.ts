import { deepEqual } from '../../model/deep-equal.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { Entry } from '../book/pod-book.ts';
import { PROBE_KINDS, probeOf } from './probe.ts';

/** A container that has probes, as the book shows it now. */
export interface ProbedContainer {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly container: Container;
  readonly podIp: string | undefined;
  /** The instance that runs; absent while none does. */
  readonly running: RunningInstance | undefined;
  /** The pod is being ended. */
  readonly isEnding: boolean;
}

export interface RunningInstance {
  readonly id: string;
  /** Milliseconds since 1970, from the runtime. */
  readonly startedAt: number;
}

/**
 * The containers of a pod that are to be probed: regular ones and sidecars, while the pod is kept or being ended. One whose
 * postStart hook goes on does not run yet.
 */
export function probedContainers(entry: Entry): readonly ProbedContainer[] {
  const { uid, pod, phase, observed } = entry;
  if (pod === undefined || (phase !== 'syncing' && phase !== 'terminating')) return [];
  const { containers, initContainers = [], hostNetwork } = pod.spec;
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const podIp = hostNetwork === true ? undefined : observed?.sandboxes[0]?.ips?.[0];
  const starting = phase === 'syncing' ? entry.starting : undefined;
  return [...sidecars, ...containers].filter(hasProbes).map((container) => ({
    uid,
    pod,
    container,
    podIp,
    running: starting?.has(container.name) ? undefined : runningInstance(container.name, observed),
    isEnding: phase === 'terminating',
  }));
}

/** Whether the same instance runs with the same probes, so that what goes on goes on. */
export function isSameRun(a: ProbedContainer, b: ProbedContainer): boolean {
  return a.running?.id === b.running?.id && hasSameProbes(a.container, b.container);
}

function hasProbes(container: Container): boolean {
  return PROBE_KINDS.some((kind) => probeOf(container, kind) !== undefined);
}

function hasSameProbes(a: Container, b: Container): boolean {
  return a === b || PROBE_KINDS.every((kind) => deepEqual(probeOf(a, kind), probeOf(b, kind)));
}

function runningInstance(name: string, observed: ObservedPod | undefined): RunningInstance | undefined {
  const newest = observed?.containers.find((container) => container.name === name);
  if (newest?.state !== 'running') return undefined;
  const { startedAt = 0 } = newest.detail ?? {};
  // 0 as long as the runtime does not know of it.
  return { id: newest.id, startedAt: (startedAt === 0 ? newest.createdAt : startedAt) / 1e6 };
}
