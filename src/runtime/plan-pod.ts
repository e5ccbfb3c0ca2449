import { isSidecar } from '../model/containers.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../model/observed.ts';
import type { PodMemory } from '../model/pod-memory.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { Backoff, BackoffLimits } from '../model/restart/backoff.ts';
import { maxContainerRestartPeriodOf } from '../model/rxlet-annotations.ts';
import { afterExit, afterInitExit } from '../model/restart/restart-policy.ts';
import type { Verdict } from '../model/status/status-facts.ts';
import { usableSandbox, wantsOtherNetwork } from '../model/usable-sandbox.ts';
import { planContainer } from './plan-container.ts';
import type { Known, PlanContext, SandboxContext } from './plan-context.ts';
import { planInit } from './plan-init.ts';
import { appliedAfter } from './plan-resize.ts';
import { exitOf, newestOf, startOf, type Decision, type Step, type Waiting } from './plan-steps.ts';

export interface PodPlan {
  readonly steps: readonly Step[];
  /** The sandbox that the containers go into; absent where `runSandbox` makes it, or where none is wanted. */
  readonly sandbox?: ObservedSandbox;
  /** By container name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Milliseconds since 1970 at which the next back-off ends. */
  readonly wakeAt?: number;
  /** With the back-off of the containers that this plan starts. */
  readonly memory: PodMemory;
  /** Nothing of this pod runs, and nothing ever will again. */
  readonly finished: boolean;
  /** What holds of the whole pod, whatever its containers say. */
  readonly verdict?: Verdict;
}

/**
 * Decides what a pod needs, from what is wanted and what is there (facts sheet 8, 9; kubelet, computePodActions).
 *
 * | the pod                        | then                                                                  |
 * | ------------------------------ | --------------------------------------------------------------------- |
 * | is past its deadline           | say so                                                                |
 * | has ended for good             | stop what is up, start nothing                                        |
 * | has one ready sandbox          | init containers and sidecars first, then start what is missing or ended and may restart, replace what changed or failed a probe |
 * | has none, or a wrong one       | stop all, run a new one, start what has not ended for good            |
 *
 * Pure: `now` is milliseconds since 1970.
 */
export function planPod(
  pod: Pod,
  observed: ObservedPod,
  memory: PodMemory,
  now: number,
  limits: BackoffLimits,
  known: Known = { probes: new Map() },
): PodPlan {
  // What the caller knows beside comes first: a work carries an older observation too.
  const ceiling = maxContainerRestartPeriodOf(pod.metadata.annotations) ?? limits.ceiling;
  const context: PlanContext = { ...known, pod, observed, memory, now, limits: { ...limits, ceiling } };
  const hasEnded = known.status?.phase === 'Failed' || known.status?.phase === 'Succeeded';
  if (hasEnded) {
    const steps: readonly Step[] = isAnythingUp(observed) ? [{ do: 'stopPod', why: '' }] : [];
    return { ...nothingToDo(memory), steps, finished: steps.length === 0 };
  }
  const left = untilDeadline(context);
  // It shows first, as with the kubelet: ending what runs may take its whole grace.
  if (left <= 0) return { ...nothingToDo(memory), verdict: PAST_DEADLINE, wakeAt: now };
  const sandbox = usableSandbox(pod, observed);
  const plan = sandbox ? planInSandbox({ ...context, sandbox }) : planNewSandbox(context);
  return left === Infinity ? plan : { ...plan, wakeAt: Math.min(plan.wakeAt ?? Infinity, now + left) };
}

/** Milliseconds that the pod may still be active. */
function untilDeadline({ pod, activeFor = 0 }: PlanContext): number {
  return (pod.spec.activeDeadlineSeconds ?? Infinity) * 1_000 - activeFor;
}

const PAST_DEADLINE: Verdict = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

function nothingToDo(memory: PodMemory): PodPlan {
  return { steps: [], waiting: new Map(), memory, finished: false };
}

/** Facts sheet 8.2. */
function planNewSandbox({ pod, observed, memory, now }: PlanContext): PodPlan {
  const { sandboxes, containers } = observed;
  const attempt = (sandboxes[0]?.attempt ?? -1) + 1;
  const stop: readonly Step[] = isAnythingUp(observed) ? [{ do: 'stopPod', why: '' }] : [];
  const wanted = pod.spec.containers.filter((container) => !isDone(pod, container, newestOf(observed, container.name)));
  // What was made and never started has not had its one chance, nor has the pod as long as it was only prepared well.
  const hasRun = containers.some((seen) => seen.state !== 'created' && isOwnOrFailed(pod, seen));
  const neverAgain = pod.spec.restartPolicy === 'Never' && attempt > 0 && hasRun;

  if (wanted.length === 0 || neverAgain) return { ...nothingToDo(memory), steps: stop, finished: stop.length === 0 };

  const backoff = nextSandboxBackoff(memory.sandbox, now);
  if (memory.sandbox && now < memory.sandbox.since + memory.sandbox.delay && now >= memory.sandbox.since) {
    const message = `sandboxes of the pod ended soon after they were made; the next one is made in a while`;
    const waiting = new Map(wanted.map(({ name }) => [name, { reason: 'CreatePodSandboxError', message }]));
    return { ...nothingToDo(memory), steps: stop, waiting, wakeAt: memory.sandbox.since + memory.sandbox.delay };
  }
  // What init containers did in the old sandbox has to be done again in the new one.
  const [first] = pod.spec.initContainers ?? [];
  const outdated = instancesOf(pod.spec.initContainers ?? [], observed);
  return {
    ...nothingToDo(memory),
    steps: [
      ...stop,
      ...outdated.map((container): Step => ({ do: 'removeContainer', container, keepLog: true })),
      { do: 'runSandbox', attempt, ...(wantsOtherNetwork(pod, observed) ? { quiet: true } : {}) },
      ...(first ? [first] : wanted).map((container) => startOf(container, observed, 'the pod has a new sandbox')),
      ...prune({ ...observed, containers: containers.filter((seen) => !outdated.includes(seen)) }, undefined),
    ],
    memory: { ...memory, sandbox: backoff },
  };
}

/** Whether an instance is of a regular container, or of an init container that failed for good. */
function isOwnOrFailed({ spec }: Pod, seen: ObservedContainer): boolean {
  const init = spec.initContainers?.find(({ name }) => name === seen.name);
  if (!init) return true;
  return !isSidecar(init) && seen.state === 'exited' && afterInitExit(spec, init, exitOf(seen)) === 'leave';
}

function instancesOf(containers: readonly Container[], observed: ObservedPod): readonly ObservedContainer[] {
  const names = new Set(containers.map(({ name }) => name));
  return observed.containers.filter(({ name }) => names.has(name));
}

const SANDBOX_CALM = 60_000;
const SANDBOX_CEILING = 60_000;

/**
 * Two sandboxes are made at once, later ones of a series with growing distance: a network plugin that gives no
 * address or a wrong cgroup driver would else have us make and break sandboxes without end.
 */
function nextSandboxBackoff(last: Backoff | undefined, now: number): Backoff {
  const isSeries = last !== undefined && now - last.since < last.delay + SANDBOX_CALM;
  if (!isSeries) return { delay: 0, since: now };
  return { delay: last.delay === 0 ? 1_000 : Math.min(last.delay * 2, SANDBOX_CEILING), since: now };
}

/** In a new sandbox everything starts but what has ended for good; that of a Never pod is settled before. */
function isDone({ spec }: Pod, container: Container, newest: ObservedContainer | undefined): boolean {
  if (newest?.state !== 'exited' || (spec.restartPolicy === 'Never' && container.restartPolicy === undefined))
    return false;
  return afterExit(spec, container, exitOf(newest)) === 'leave';
}

/** Facts sheet 8.3. */
function planInSandbox(context: SandboxContext): PodPlan {
  const { pod, observed, sandbox, memory } = context;
  const asking = whatAsksForRestartOfAll(context);
  if (asking.length > 0) return planRestartOfAll(context, asking);

  const init = planInit(context);
  const regular = init.isInitialized ? pod.spec.containers.map((container) => planContainer(context, container)) : [];
  const isOver = init.hasFailed || (init.isInitialized && regular.every(({ kind }) => kind === 'leave'));
  if (isOver) return { ...nothingToDo(memory), steps: [{ do: 'stopPod', why: '' }] };

  const decisions = [...init.decisions, ...regular];
  const waits = decisions.filter((decision) => decision.kind === 'wait');
  const starts = decisions.filter((decision) => decision.kind === 'start');
  return {
    ...nothingToDo(memory),
    steps: [...strays(context), ...ephemeral(context), ...decisions.flatMap(stepsOf), ...prune(observed, sandbox)],
    sandbox,
    waiting: new Map(waits.map(({ name, waiting }) => [name, waiting])),
    ...(waits.length === 0 ? {} : { wakeAt: Math.min(...waits.map(({ until }) => until)) }),
    memory: { ...memory, restarts: restartsAfter(memory, [...waits, ...starts]), resources: appliedAfter(context) },
  };
}

type Remembering = Extract<Decision, { kind: 'wait' | 'start' }>;

function restartsAfter({ restarts }: PodMemory, decisions: readonly Remembering[]): PodMemory['restarts'] {
  const remembered = decisions.flatMap(({ remember }) => remember).filter(([name, now]) => restarts.get(name) !== now);
  return remembered.length === 0 ? restarts : new Map([...restarts, ...remembered]);
}

function stepsOf(decision: Decision): readonly Step[] {
  return 'steps' in decision ? decision.steps : [];
}

/** What runs and should not: containers that the pod does not have any more, and second instances. */
function strays({ pod, observed }: SandboxContext): readonly Step[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const names = new Set([...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name));
  return observed.containers
    .filter((seen) => seen.state === 'running' && (newestOf(observed, seen.name) !== seen || !names.has(seen.name)))
    .map((container): Step => {
      const why = `Container ${container.name} is no longer in the pod, or runs twice`;
      return { do: 'stopContainer', container, why };
    });
}

/** Ephemeral containers run once, and are never started again. */
function ephemeral({ pod, observed }: SandboxContext): readonly Step[] {
  return (pod.spec.ephemeralContainers ?? [])
    .filter(({ name }) => !newestOf(observed, name))
    .map((container): Step => ({ do: 'startContainer', container, why: 'it was added to the pod' }));
}

/** Containers that ended in a way for which their rules ask that the whole pod begins anew (facts sheet 8.6). */
function whatAsksForRestartOfAll({ pod, observed, sandbox }: SandboxContext): readonly ObservedContainer[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((container) => {
    const newest = newestOf(observed, container.name);
    if (newest?.state !== 'exited' || newest.sandboxId !== sandbox.id) return [];
    return afterExit(pod.spec, container, exitOf(newest)) === 'restartAll' ? [newest] : [];
  });
}

/**
 * Sandbox, volumes and logs stay; with no trace of its containers left, the pod begins anew at the next look. Those
 * that ask for it go last: whatever interrupts this, it goes on until all are gone. Ephemeral containers are left alone:
 * without a trace they would run a second time.
 */
function planRestartOfAll(
  { pod, observed, sandbox, memory }: SandboxContext,
  asking: readonly ObservedContainer[],
): PodPlan {
  const once = new Set(pod.spec.ephemeralContainers?.map(({ name }) => name));
  const containers = observed.containers.filter(({ name }) => !once.has(name));
  const why = 'all containers of the pod are restarted';
  const running = containers.filter(({ state }) => state === 'running' || state === 'unknown');
  const others = containers.filter((container) => !asking.includes(container));
  return {
    ...nothingToDo(memory),
    steps: [
      ...running.map((container): Step => ({ do: 'stopContainer', container, why, grace: 0 })),
      ...[...others, ...asking].map((container): Step => ({ do: 'removeContainer', container, keepLog: true })),
    ],
    sandbox,
  };
}

/**
 * Of each container the newest ended instance stays, for its exit code and its log, and of the sandboxes the one in
 * use and those that hold such an instance (facts sheet 23.1: MaxPerPodContainer 1). What was made and never started
 * goes once there is a newer instance.
 */
function prune(observed: ObservedPod, inUse: ObservedSandbox | undefined): readonly Step[] {
  const kept = new Set<string>();
  const steps: Step[] = [];
  const holding = new Set<string>();
  for (const container of observed.containers) {
    const isSpare =
      container.state === 'exited'
        ? kept.has(container.name)
        : container.state === 'created' && newestOf(observed, container.name) !== container;
    if (isSpare) {
      steps.push({ do: 'removeContainer', container });
    } else {
      if (container.state === 'exited') kept.add(container.name);
      holding.add(container.sandboxId);
    }
  }
  for (const sandbox of observed.sandboxes) {
    if (sandbox.state === 'notReady' && sandbox.id !== inUse?.id && !holding.has(sandbox.id)) {
      steps.push({ do: 'removeSandbox', sandbox });
    }
  }
  return steps;
}

/** What nobody knows the state of may well be running. */
function isAnythingUp({ sandboxes, containers }: ObservedPod): boolean {
  return (
    sandboxes.some(({ state }) => state === 'ready') ||
    containers.some(({ state }) => state === 'running' || state === 'unknown')
  );
}
