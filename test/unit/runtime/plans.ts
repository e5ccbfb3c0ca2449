import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../src/model/observed.ts';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Container, Pod, PodSpec, PodStatus } from '../../../src/model/pod.ts';
import type { Known } from '../../../src/runtime/plan-context.ts';
import { planPod, type PodPlan } from '../../../src/runtime/plan-pod.ts';
import type { Step } from '../../../src/runtime/plan-steps.ts';
import type { ProbeFindings } from '../../../src/streams/workers/pod-work.ts';
import { observed, pod, sandbox, wanted } from '../../marbles/fakes.ts';

export const LIMITS = { initial: 10_000, ceiling: 300_000 } as const;

export interface Moment {
  readonly memory?: PodMemory;
  /** Milliseconds since 1970. */
  readonly now?: number;
  readonly probes?: readonly (readonly [string, ProbeFindings])[];
  readonly status?: PodStatus;
  /** Milliseconds since the start of the pod. */
  readonly activeFor?: number;
  /** Of the objects behind the variables of a container, by its name. */
  readonly configHashes?: Known['configHashes'];
}

/** What is planned for a pod in a ready sandbox that holds these containers, newest first. */
export function planWithin(of: Pod, containers: readonly ObservedContainer[], moment: Moment = {}): PodPlan {
  return planFor(of, { sandboxes: [sandbox()], containers }, moment);
}

export function planFor(of: Pod, seen: Partial<ObservedPod>, moment: Moment = {}): PodPlan {
  const { memory = NO_MEMORY, now = 1_000, probes = [], status, activeFor = 0, configHashes } = moment;
  const known: Known = {
    probes: new Map(probes),
    activeFor,
    ...(status ? { status } : {}),
    ...(configHashes ? { configHashes } : {}),
  };
  return planPod(of, observed(seen), memory, now, LIMITS, known);
}

/** The steps in a few words each: `start main 1`. */
export function steps(of: PodPlan): readonly string[] {
  return of.steps.map(tell);
}

function tell(step: Step): string {
  switch (step.do) {
    case 'stopPod':
      return 'stop the pod';
    case 'stopContainer':
      return `stop ${step.container.id}${step.grace === undefined ? '' : ` in ${step.grace} s`}`;
    case 'runSandbox':
      return `sandbox ${step.attempt}`;
    case 'startContainer':
      return `start ${step.container.name} ${step.attempt ?? 'by logs'}`;
    case 'startCreated':
      return `start made ${step.created.id}`;
    case 'resizeContainer':
      return `resize ${step.running.id}`;
    case 'removeContainer':
      return `remove ${step.container.id}${step.keepLog === true ? ' but its log' : ''}`;
    case 'removeSandbox':
      return `remove ${step.sandbox.id}`;
  }
}

/** A pod of init containers, in their order, and the regular container `main`. */
export function podOf(initContainers: readonly Container[], spec: Partial<PodSpec> = {}): Pod {
  return pod({ spec: { initContainers, ...spec } });
}

export function sidecar(name: string, more: Partial<Container> = {}): Container {
  return wanted(name, { restartPolicy: 'Always', ...more });
}

/** What probes have found of an instance that is well, unless the test says more. */
export function found(containerId: string, more: Partial<ProbeFindings> = {}): ProbeFindings {
  const well = { liveness: 'success', startup: 'success', readiness: 'success', started: true, ready: true } as const;
  return { containerId, ...well, ...more };
}

/** A sandbox that has ended. */
export function endedSandbox(attempt = 0): ObservedSandbox {
  return sandbox({ attempt, state: 'notReady' });
}
