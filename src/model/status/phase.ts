import { isSidecar } from '../containers.ts';
import type { Container, Pod, PodSpec } from '../pod.ts';
import { afterExit, afterInitExit } from '../restart/restart-policy.ts';
import { RESTARTING_ALL } from './restart-of-all.ts';
import type { ContainerStatus, Phase } from './status-facts.ts';

/** The phase of a pod from the statuses of its containers (facts sheet 19.1; kubelet, getPhase). */
export function phaseOf(
  pod: Pod,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
  wasInitialized: boolean,
): Phase {
  const initial = initPhase(pod, init, wasInitialized);
  return initial ?? regularPhase(pod, init, regular);
}

/** Failed or Pending while the pod has not been initialised; nothing once it has. */
function initPhase({ spec }: Pod, statuses: readonly ContainerStatus[], wasInitialized: boolean): Phase | undefined {
  const byName = new Map(statuses.map((status) => [status.name, status]));
  let isPending = false;
  for (const container of spec.initContainers ?? []) {
    const { state, lastState, started } = byName.get(container.name) ?? {};
    if (isSidecar(container)) {
      if (!wasInitialized && started !== true) isPending = true;
      continue;
    }
    const ended = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
    if (!ended || ended.reason === RESTARTING_ALL) {
      if (!wasInitialized) isPending = true;
      continue;
    }
    const exit = { exitCode: ended.exitCode, reason: ended.reason ?? '' };
    const after = afterInitExit(spec, container, exit);
    if (after === 'leave') return 'Failed';
    if (after !== 'done') isPending = true;
  }
  return isPending ? 'Pending' : undefined;
}

/** Of the init containers only sidecars can run by now; while one does, the pod has not come to its end. */
function regularPhase({ spec }: Pod, init: readonly ContainerStatus[], statuses: readonly ContainerStatus[]): Phase {
  const byName = new Map(spec.containers.map((container) => [container.name, container]));
  let running = init.filter(({ state }) => state?.running).length;
  let restartable = 0;
  let failed = 0;
  for (const { name, state, lastState } of statuses) {
    const container = byName.get(name);
    const ended = state?.terminated ?? lastState?.terminated;
    if (state?.running) running += 1;
    else if (!ended || !container) return 'Pending';
    else if (startsAgain(spec, container, ended)) restartable += 1;
    else if (ended.exitCode !== 0) failed += 1;
  }
  if (running > 0 || restartable > 0) return 'Running';
  return failed > 0 ? 'Failed' : 'Succeeded';
}

function startsAgain(spec: PodSpec, container: Container, { exitCode, reason = '' }: Ended): boolean {
  return reason === RESTARTING_ALL || afterExit(spec, container, { exitCode, reason }) !== 'leave';
}

type Ended = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;
