import type { ObservedContainer } from '../model/observed.ts';
import type { Container } from '../model/pod.ts';
import { NO_MEMORY, type KeyedBackoff, type PodMemory } from '../model/pod-memory.ts';
import { decideBackoff, formatGoDuration, type BackoffLimits } from '../model/restart/backoff.ts';
import type { PlanContext } from './plan-context.ts';
import { start, startOf, type Decision, type Step } from './plan-steps.ts';

/**
 * Ends the instance that runs and starts the next one right after it, unless the instance before it ended so lately
 * that the new one has to wait: then it is only ended, and its back-off begins (kubelet, doBackOff).
 */
export function restart(
  context: PlanContext,
  container: Container,
  running: ObservedContainer,
  why: string,
  grace: { readonly grace?: number } = {},
): Decision {
  const stop: Step = { do: 'stopContainer', container: running, why, ...grace };
  const former = context.observed.containers.find(({ name, state }) => name === container.name && state === 'exited');
  const next = former
    ? afterBackoff(context, container, former)
    : start(container.name, startOf(container, context.observed, why));
  return next.kind === 'start' ? { ...next, steps: [stop, ...next.steps] } : { kind: 'stop', steps: [stop] };
}

/** Starts a container that ended again, now or when its back-off is over. */
export function afterBackoff(
  { pod, observed, memory, now, limits }: PlanContext,
  container: Container,
  ended: ObservedContainer,
): Decision {
  const { name } = container;
  const key = JSON.stringify([container.image, container.resources ?? {}]);
  const remembered = memory.restarts.get(name) ?? lostMemory(memory, ended, key, limits);
  const backoff = remembered?.key === key ? remembered.backoff : undefined;
  const decision = decideBackoff(backoff, (ended.detail?.finishedAt ?? 0) / 1e6, now, limits);
  if (!decision.start) {
    const { name: podName, namespace, uid } = pod.metadata;
    const message = `back-off ${formatGoDuration(decision.delay)} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
    const waiting = { reason: 'CrashLoopBackOff', message };
    return { kind: 'wait', name, waiting, until: decision.until, remember: remembered ? [[name, remembered]] : [] };
  }
  return {
    kind: 'start',
    name,
    steps: [startOf(container, observed, `it ended with exit code ${ended.detail?.exitCode ?? 0}`)],
    remember: [[name, { key, backoff: decision.backoff }]],
  };
}

/**
 * An agent that was killed right after it restarted a container may have left no word of that. Its successor, which has
 * done nothing for the pod yet, takes the restart from the runtime: the least wait is known, and that is kept.
 */
function lostMemory(
  { actedAt }: PodMemory,
  { attempt, createdAt }: ObservedContainer,
  key: string,
  limits: BackoffLimits,
): KeyedBackoff | undefined {
  if (actedAt !== NO_MEMORY.actedAt || attempt === 0) return undefined;
  return { key, backoff: { delay: Math.min(limits.initial, limits.ceiling), since: createdAt / 1e6 } };
}
