import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSidecar } from '../../../src/model/containers.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../src/model/observed.ts';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Container, Pod, PodStatus } from '../../../src/model/pod.ts';
import { nextStatus } from '../../../src/model/status/pod-status.ts';
import { planPod, type PodPlan } from '../../../src/runtime/plan-pod.ts';
import type { Step } from '../../../src/runtime/plan-steps.ts';
import type { ProbeFindings } from '../../../src/streams/workers/pod-work.ts';
import { container, exited, observed, pod, sandbox, wanted } from '../../marbles/fakes.ts';
import { found, LIMITS, sidecar } from './plans.ts';

/** What may happen to a pod between and during the syncs of an agent. */
type Happening =
  | { readonly kind: 'sync'; readonly crashesAfter: number }
  | { readonly kind: 'exit'; readonly which: number; readonly code: number }
  | { readonly kind: 'lost'; readonly which: number }
  | { readonly kind: 'forgotten'; readonly which: number }
  | { readonly kind: 'probe'; readonly which: number; readonly says: 'started' | 'notStarting' | 'notLiving' }
  | { readonly kind: 'sandboxDies' }
  | { readonly kind: 'agentForgets' }
  | { readonly kind: 'later'; readonly milliseconds: number };

/** One pod on one node, as it stands between two moments. */
interface Life {
  readonly of: Pod;
  seen: ObservedPod;
  readonly probes: Map<string, ProbeFindings>;
  memory: PodMemory;
  status: PodStatus | undefined;
  /** Milliseconds since 1970. */
  now: number;
  /** Init containers that have done their work, and sidecars that have started, in the sandbox in use. */
  readonly achieved: Set<string>;
}

function begin(of: Pod): Life {
  return {
    of,
    seen: observed({}),
    probes: new Map(),
    memory: NO_MEMORY,
    status: undefined,
    now: 1_000_000,
    achieved: new Set(),
  };
}

describe('planPod, over the life of a pod', () => {
  it('never starts anything before its turn nor in one plan with the init container before it, never two of one name, and comes to rest when the world does', () => {
    const property = fc.property(podsOfAllKinds(), fc.array(happenings(), { maxLength: 40 }), (of, story) => {
      const life = begin(of);
      for (const what of story) happen(life, what);
      const last = rest(life);
      const up = running(life).map(({ name }) => name);
      if (last.finished) {
        expect(up).toEqual([]);
        expect(life.seen.sandboxes.filter(({ state }) => state === 'ready')).toEqual([]);
      } else {
        expect(up).toEqual(expect.arrayContaining([...sidecarsOf(of)]));
        expect(life.status?.phase).toBe('Running');
      }
      if (life.status?.phase === 'Failed' || life.status?.phase === 'Succeeded') expect(last.finished).toBe(true);
    });
    fc.assert(property, { seed: 5, numRuns: 3_000 });
  });

  it('never gives up a pod that always restarts, and brings all of it up', () => {
    const always = podsOfAllKinds().map((of): Pod => ({
      ...of,
      spec: {
        ...of.spec,
        restartPolicy: 'Always',
        containers: of.spec.containers.map(({ name }) => wanted(name)),
        initContainers: (of.spec.initContainers ?? []).map((one) => (isSidecar(one) ? one : wanted(one.name))),
      },
    }));
    const property = fc.property(always, fc.array(happenings(), { maxLength: 40 }), (of, story) => {
      const life = begin(of);
      for (const what of story) happen(life, what);
      expect(rest(life).finished).toBe(false);
      const up = running(life).map(({ name }) => name);
      expect(up.toSorted()).toEqual([...of.spec.containers.map(({ name }) => name), ...sidecarsOf(of)].toSorted());
      expect(life.status?.phase).toBe('Running');
    });
    fc.assert(property, { seed: 6, numRuns: 1_500 });
  });
});

function planNow(life: Life): PodPlan {
  const known = { probes: life.probes, ...(life.status ? { status: life.status } : {}) };
  return planPod(life.of, life.seen, life.memory, life.now, LIMITS, known);
}

function happen(life: Life, what: Happening): void {
  switch (what.kind) {
    case 'sync':
      perform(life, planNow(life), what.crashesAfter);
      return;
    case 'exit':
      end(life, pick(running(life), what.which), what.code);
      return;
    case 'lost':
      change(life, pick(running(life), what.which), (lost) => ({ ...lost, state: 'unknown' }));
      return;
    case 'forgotten':
      remove(
        life,
        pick(
          life.seen.containers.filter(({ state }) => state === 'exited'),
          what.which,
        ),
      );
      return;
    case 'probe':
      probe(life, pick(running(life), what.which), what.says);
      return;
    case 'sandboxDies':
      stopSandboxes(life);
      return;
    case 'agentForgets':
      life.probes.clear();
      return;
    case 'later':
      life.now += what.milliseconds;
      return;
  }
}

/** What must hold at every step is checked as it is done. */
function perform(life: Life, plan: PodPlan, crashesAfter = Infinity): void {
  let inUse = plan.sandbox?.id ?? '';
  const isAnew = plan.sandbox !== undefined && plan.steps.some((step) => step.do === 'removeContainer' && step.keepLog);
  if (isAnew) life.achieved.clear();
  expectNothingAfterAnInitContainer(life.of, plan);
  for (const step of plan.steps.slice(0, crashesAfter)) inUse = doStep(life, step, inUse);
  if (plan.steps.length <= crashesAfter) life.memory = plan.memory;
  life.status = nextStatus(life.of, life.status, {
    observed: life.seen,
    waiting: plan.waiting,
    probed: life.probes,
    verdict: plan.verdict,
    runtimeName: 'fake',
    hostIps: [],
    isEnding: false,
    now: life.now,
  });
}

/** So one that cannot be started holds up all that follows it. */
function expectNothingAfterAnInitContainer({ spec }: Pod, { steps }: PodPlan): void {
  const started = steps.flatMap((step) =>
    step.do === 'startContainer' || step.do === 'startCreated' ? [step.container.name] : [],
  );
  const init = (spec.initContainers ?? []).filter((one) => !isSidecar(one)).map(({ name }) => name);
  expect(started.slice(0, -1).filter((name) => init.includes(name))).toEqual([]);
}

function running(life: Life): readonly ObservedContainer[] {
  return life.seen.containers.filter(({ state }) => state === 'running');
}

function doStep(life: Life, step: Step, inUse: string): string {
  switch (step.do) {
    case 'stopPod':
      for (const one of upOrUnknown(life)) end(life, one, 137);
      stopSandboxes(life);
      return inUse;
    case 'stopContainer':
      end(
        life,
        upOrUnknown(life).find(({ id }) => id === step.container.id),
        137,
      );
      return inUse;
    case 'runSandbox':
      expect(life.seen.sandboxes.some(({ state, attempt }) => state === 'ready' || attempt === step.attempt)).toBe(
        false,
      );
      life.seen = { ...life.seen, sandboxes: [sandbox({ attempt: step.attempt }), ...life.seen.sandboxes] };
      life.achieved.clear();
      return `s-${step.attempt}`;
    case 'startContainer':
      start(
        life,
        step.container,
        container({ name: step.container.name, attempt: step.attempt ?? 0, sandboxId: inUse }),
      );
      return inUse;
    case 'startCreated':
      start(life, step.container, { ...step.created, state: 'running' });
      return inUse;
    case 'resizeContainer':
      return inUse;
    case 'removeContainer': {
      const removed = life.seen.containers.find(({ id }) => id === step.container.id);
      expect(removed?.state).not.toBe('running');
      remove(life, removed);
      return inUse;
    }
    case 'removeSandbox':
      expect(life.seen.containers.some(({ sandboxId }) => sandboxId === step.sandbox.id)).toBe(false);
      life.seen = { ...life.seen, sandboxes: life.seen.sandboxes.filter(({ id }) => id !== step.sandbox.id) };
      return inUse;
  }
}

function start(life: Life, { name, startupProbe }: Container, started: ObservedContainer): void {
  expect(upOrUnknown(life).filter((other) => other.name === name)).toEqual([]);
  expect(life.seen.sandboxes.find(({ id }) => id === started.sandboxId)?.state).toBe('ready');
  const init = life.of.spec.initContainers ?? [];
  const at = init.findIndex((one) => one.name === name);
  const before = (at < 0 ? init : init.slice(0, at)).map((one) => one.name);
  expect(before.filter((one) => !life.achieved.has(one))).toEqual([]);
  if (at >= 0 && startupProbe === undefined && isSidecar(init[at] ?? {})) life.achieved.add(name);
  const others = life.seen.containers.filter(({ id }) => id !== started.id);
  life.seen = { ...life.seen, containers: [started, ...others] };
}

function end(life: Life, one: ObservedContainer | undefined, code: number): void {
  change(life, one, (running) => exited(code, life.now, { ...running, state: 'exited' }));
  const isInit = life.of.spec.initContainers?.some((init) => init.name === one?.name && !isSidecar(init)) === true;
  if (one && isInit && code === 0) life.achieved.add(one.name);
}

function probe(life: Life, one: ObservedContainer | undefined, says: 'started' | 'notStarting' | 'notLiving'): void {
  const spec = [...(life.of.spec.initContainers ?? []), ...life.of.spec.containers].find(
    ({ name }) => name === one?.name,
  );
  if (!one || !spec?.startupProbe) return;
  if (says === 'started') life.achieved.add(one.name);
  const more =
    says === 'notStarting'
      ? { startup: 'failure' as const, started: false }
      : says === 'notLiving'
        ? { liveness: 'failure' as const }
        : {};
  if (says === 'notLiving') life.achieved.add(one.name);
  life.probes.set(one.name, found(one.id, more));
}

function change(
  life: Life,
  one: ObservedContainer | undefined,
  to: (one: ObservedContainer) => ObservedContainer,
): void {
  life.seen = {
    ...life.seen,
    containers: life.seen.containers.map((seen) => (seen.id === one?.id ? to(seen) : seen)),
  };
}

function remove(life: Life, one: ObservedContainer | undefined): void {
  life.seen = { ...life.seen, containers: life.seen.containers.filter((seen) => seen !== one) };
}

function stopSandboxes(life: Life): void {
  const sandboxes = life.seen.sandboxes.map((stopped): ObservedSandbox => ({ ...stopped, state: 'notReady' }));
  life.seen = { ...life.seen, sandboxes };
}

function upOrUnknown(life: Life): readonly ObservedContainer[] {
  return life.seen.containers.filter(({ state }) => state === 'running' || state === 'unknown');
}

/** Everything goes well from now on: init containers succeed, what has a startup probe starts, the rest runs. */
function rest(life: Life): PodPlan {
  const init = life.of.spec.initContainers ?? [];
  for (let round = 0; round < 60; round += 1) {
    for (const [at, { name }] of running(life).entries()) {
      const one = init.find((candidate) => candidate.name === name);
      if (one && !isSidecar(one)) happen(life, { kind: 'exit', which: at, code: 0 });
    }
    for (const at of running(life).keys()) happen(life, { kind: 'probe', which: at, says: 'started' });
    const plan = planNow(life);
    const isQuiet =
      plan.steps.length === 0 &&
      running(life).every(({ name }) => !init.some((one) => one.name === name && !isSidecar(one)));
    perform(life, plan);
    if (isQuiet && plan.wakeAt === undefined && planNow(life).steps.length === 0) return plan;
    life.now = Math.max(life.now, plan.wakeAt ?? life.now);
  }
  throw new Error(`it does not come to rest: ${JSON.stringify(life.seen)}`);
}

function sidecarsOf({ spec }: Pod): readonly string[] {
  return (spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
}

function pick<T>(from: readonly T[], which: number): T | undefined {
  return from[which % Math.max(1, from.length)];
}

function podsOfAllKinds(): fc.Arbitrary<Pod> {
  const startupProbe = { exec: { command: ['true'] } };
  const init = [wanted('i'), sidecar('s', { startupProbe }), wanted('j', { restartPolicy: 'OnFailure' }), sidecar('t')];
  const all = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
  const regular = [
    wanted('a'),
    wanted('b', { restartPolicy: 'Never', restartPolicyRules: [all] }),
    wanted('c', { restartPolicy: 'OnFailure', startupProbe }),
  ];
  return fc
    .tuple(
      fc.constantFrom('Always', 'OnFailure', 'Never'),
      fc.shuffledSubarray(init),
      fc.shuffledSubarray(regular, { minLength: 1 }),
    )
    .map(([restartPolicy, initContainers, containers]) => pod({ spec: { restartPolicy, initContainers, containers } }));
}

function happenings(): fc.Arbitrary<Happening> {
  const which = fc.nat(5);
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('sync' as const),
        crashesAfter: fc.constantFrom(Infinity, Infinity, 1, 2, 3),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('exit' as const), which, code: fc.constantFrom(0, 0, 1, 42) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost' as const), which }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('forgotten' as const), which }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('probe' as const),
        which,
        says: fc.constantFrom('started' as const, 'started' as const, 'notStarting' as const, 'notLiving' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('sandboxDies' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('agentForgets' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('later' as const),
        milliseconds: fc.constantFrom(1_000, 30_000, 400_000),
      }),
    },
  );
}
