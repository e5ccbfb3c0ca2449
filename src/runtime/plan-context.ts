import type { ObservedPod, ObservedSandbox } from '../model/observed.ts';
import type { PodMemory } from '../model/pod-memory.ts';
import type { Pod, PodStatus } from '../model/pod.ts';
import type { BackoffLimits } from '../model/restart/backoff.ts';
import type { ProbeFindings } from '../streams/workers/pod-work.ts';

/** What is known of a pod beside what the runtime shows. */
export interface Known {
  /** By container name. */
  readonly probes: ReadonlyMap<string, ProbeFindings>;
  readonly status?: PodStatus | undefined;
  /** Milliseconds since the start of the pod, by a clock that does not jump; 0 unless told. */
  readonly activeFor?: number;
  /** What the objects behind the variables of a container come to now, by its name; of those that follow a change of them. */
  readonly configHashes?: ReadonlyMap<string, string>;
}

/** Everything that a plan is made from. */
export interface PlanContext extends Known {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly memory: PodMemory;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits: BackoffLimits;
}

/** The same, once it is settled which sandbox the containers live in. */
export interface SandboxContext extends PlanContext {
  readonly sandbox: ObservedSandbox;
}
