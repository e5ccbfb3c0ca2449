import type { ObservedContainer, ObservedPod } from '../../../../src/model/observed.ts';
import type { Pod, PodStatus } from '../../../../src/model/pod.ts';
import { nextStatus } from '../../../../src/model/status/pod-status.ts';
import type { ContainerStatus, StatusFacts } from '../../../../src/model/status/status-facts.ts';
import { container, exited, observed, sandbox } from '../../../marbles/fakes.ts';

/** What is known of a pod of which nothing is known, unless the test says more. */
export function facts(more: Partial<StatusFacts> = {}): StatusFacts {
  return {
    observed: undefined,
    waiting: new Map(),
    probed: new Map(),
    verdict: undefined,
    runtimeName: 'containerd',
    hostIps: [],
    isEnding: false,
    now: Date.parse('2026-01-01T00:01:00Z'),
    ...more,
  };
}

/** In a ready sandbox, newest first. */
export function within(...containers: readonly ObservedContainer[]): ObservedPod {
  return observed({ sandboxes: [sandbox()], containers });
}

/** The same after the sandbox was stopped. */
export function after(...containers: readonly ObservedContainer[]): ObservedPod {
  return observed({ sandboxes: [sandbox({ state: 'notReady' })], containers });
}

export function runs(name: string, attempt = 0): ObservedContainer {
  return container({ name, attempt });
}

export function ended(name: string, exitCode: number, attempt = 0, reason = '', message = ''): ObservedContainer {
  const dead = exited(exitCode, 0, { name, attempt });
  return dead.detail ? { ...dead, detail: { ...dead.detail, reason, message } } : dead;
}

export function statusOf(pod: Pod, known: Partial<StatusFacts>, previous?: PodStatus): PodStatus {
  return nextStatus(pod, previous, facts(known));
}

/**
 * A status in lines, as the records of the kubelet tell it: phase and reason, what holds, and each container with its
 * state, restart count, `R` for ready, `S` for started, and how its last instance ended.
 */
export function tell(status: PodStatus): readonly string[] {
  const { phase, reason, conditions = [], initContainerStatuses = [], containerStatuses = [] } = status;
  return [
    [phase, reason].filter(Boolean).join(' '),
    ...conditions
      .filter(({ type }) => type !== 'PodScheduled')
      .map(({ type, status: holds, reason: why }) => `${type} ${holds}${why === undefined ? '' : ` ${why}`}`),
    ...[...initContainerStatuses, ...containerStatuses].map(tellContainer),
  ];
}

export function tellContainer({ name, state, lastState, restartCount, ready, started }: ContainerStatus): string {
  const flags = `${ready ? ' R' : ''}${started === true ? ' S' : ''}`;
  const last = lastState?.terminated ? ` after ${tellState(lastState)}` : '';
  return `${name}: ${tellState(state)} ${restartCount}${flags}${last}`;
}

function tellState(state: ContainerStatus['state']): string {
  if (state?.running) return 'running';
  if (state?.terminated) return `${state.terminated.reason ?? ''} ${state.terminated.exitCode}`;
  return ['waiting', state?.waiting?.reason].filter(Boolean).join(' ');
}
