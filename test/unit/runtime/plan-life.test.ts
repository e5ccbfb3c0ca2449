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

/** One pod on one node, with what must hold at every step checked as it is done. */
class Life {
  readonly of: Pod;
  seen: ObservedPod = observed({});
  probes = new Map<string, ProbeFindings>();
  memory: PodMemory = NO_MEMORY;
  status: PodStatus | undefined;
  now = 1_000_000;
  /** Init containers that have done their work, and sidecars that have started, in the sandbox in use. */
  readonly achieved = new Set<string>();

  constructor(of: Pod) {
    this.of = of;
  }

  plan(): PodPlan {
    const known = { probes: this.probes, ...(this.status ? { status: this.status } : {}) };
    return planPod(this.of, this.seen, this.memory, this.now, LIMITS, known);
  }

  happen(what: Happening): void {
    switch (what.kind) {
      case 'sync':
        this.perform(this.plan(), what.crashesAfter);
        return;
      case 'exit':
        this.end(pick(this.running(), what.which), what.code);
        return;
      case 'lost':
        this.change(pick(this.running(), what.which), (lost) => ({ ...lost, state: 'unknown' }));
        return;
      case 'forgotten':
        this.remove(
          pick(
            this.seen.containers.filter(({ state }) => state === 'exited'),
            what.which,
          ),
        );
        return;
      case 'probe':
        this.probe(pick(this.running(), what.which), what.says);
        return;
      case 'sandboxDies':
        this.stopSandboxes();
        return;
      case 'agentForgets':
        this.probes.clear();
        return;
      case 'later':
        this.now += what.milliseconds;
        return;
    }
  }

  perform(plan: PodPlan, crashesAfter = Infinity): void {
    let inUse = plan.sandbox?.id ?? '';
    const isAnew =
      plan.sandbox !== undefined && plan.steps.some((step) => step.do === 'removeContainer' && step.keepLog);
    if (isAnew) this.achieved.clear();
    for (const step of plan.steps.slice(0, crashesAfter)) inUse = this.step(step, inUse);
    if (plan.steps.length <= crashesAfter) this.memory = plan.memory;
    this.status = nextStatus(this.of, this.status, {
      observed: this.seen,
      waiting: plan.waiting,
      probed: this.probes,
      verdict: plan.verdict,
      runtimeName: 'fake',
      hostIps: [],
      isEnding: false,
      now: this.now,
    });
  }

  running(): readonly ObservedContainer[] {
    return this.seen.containers.filter(({ state }) => state === 'running');
  }

  private step(step: Step, inUse: string): string {
    switch (step.do) {
      case 'stopPod':
        for (const one of this.upOrUnknown()) this.end(one, 137);
        this.stopSandboxes();
        return inUse;
      case 'stopContainer':
        this.end(
          this.upOrUnknown().find(({ id }) => id === step.container.id),
          137,
        );
        return inUse;
      case 'runSandbox':
        expect(this.seen.sandboxes.some(({ state, attempt }) => state === 'ready' || attempt === step.attempt)).toBe(
          false,
        );
        this.seen = { ...this.seen, sandboxes: [sandbox({ attempt: step.attempt }), ...this.seen.sandboxes] };
        this.achieved.clear();
        return `s-${step.attempt}`;
      case 'startContainer':
        this.start(
          step.container,
          container({ name: step.container.name, attempt: step.attempt ?? 0, sandboxId: inUse }),
        );
        return inUse;
      case 'startCreated':
        this.start(step.container, { ...step.created, state: 'running' });
        return inUse;
      case 'removeContainer': {
        const removed = this.seen.containers.find(({ id }) => id === step.container.id);
        expect(removed?.state).not.toBe('running');
        this.remove(removed);
        return inUse;
      }
      case 'removeSandbox':
        expect(this.seen.containers.some(({ sandboxId }) => sandboxId === step.sandbox.id)).toBe(false);
        this.seen = { ...this.seen, sandboxes: this.seen.sandboxes.filter(({ id }) => id !== step.sandbox.id) };
        return inUse;
    }
  }

  private start({ name, startupProbe }: Container, started: ObservedContainer): void {
    expect(this.upOrUnknown().filter((other) => other.name === name)).toEqual([]);
    expect(this.seen.sandboxes.find(({ id }) => id === started.sandboxId)?.state).toBe('ready');
    const init = this.of.spec.initContainers ?? [];
    const at = init.findIndex((one) => one.name === name);
    const before = (at < 0 ? init : init.slice(0, at)).map((one) => one.name);
    expect(before.filter((one) => !this.achieved.has(one))).toEqual([]);
    if (at >= 0 && startupProbe === undefined && isSidecar(init[at] ?? {})) this.achieved.add(name);
    const others = this.seen.containers.filter(({ id }) => id !== started.id);
    this.seen = { ...this.seen, containers: [started, ...others] };
  }

  private end(one: ObservedContainer | undefined, code: number): void {
    this.change(one, (running) => exited(code, this.now, { ...running, state: 'exited' }));
    const isInit = this.of.spec.initContainers?.some((init) => init.name === one?.name && !isSidecar(init)) === true;
    if (one && isInit && code === 0) this.achieved.add(one.name);
  }

  private probe(one: ObservedContainer | undefined, says: 'started' | 'notStarting' | 'notLiving'): void {
    const spec = [...(this.of.spec.initContainers ?? []), ...this.of.spec.containers].find(
      ({ name }) => name === one?.name,
    );
    if (!one || !spec?.startupProbe) return;
    if (says === 'started') this.achieved.add(one.name);
    const more =
      says === 'notStarting'
        ? { startup: 'failure' as const, started: false }
        : says === 'notLiving'
          ? { liveness: 'failure' as const }
          : {};
    if (says === 'notLiving') this.achieved.add(one.name);
    this.probes.set(one.name, found(one.id, more));
  }

  private change(one: ObservedContainer | undefined, to: (one: ObservedContainer) => ObservedContainer): void {
    this.seen = {
      ...this.seen,
      containers: this.seen.containers.map((seen) => (seen.id === one?.id ? to(seen) : seen)),
    };
  }

  private remove(one: ObservedContainer | undefined): void {
    this.seen = { ...this.seen, containers: this.seen.containers.filter((seen) => seen !== one) };
  }

  private stopSandboxes(): void {
    const sandboxes = this.seen.sandboxes.map((stopped): ObservedSandbox => ({ ...stopped, state: 'notReady' }));
    this.seen = { ...this.seen, sandboxes };
  }

  private upOrUnknown(): readonly ObservedContainer[] {
    return this.seen.containers.filter(({ state }) => state === 'running' || state === 'unknown');
  }
}

describe('planPod, over the life of a pod', () => {
  it('never starts anything before its turn, never two of one name, and comes to rest when the world does', () => {
    const property = fc.property(podsOfAllKinds(), fc.array(happenings(), { maxLength: 40 }), (of, story) => {
      const life = new Life(of);
      for (const what of story) life.happen(what);
      const last = rest(life);
      const up = life.running().map(({ name }) => name);
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
      const life = new Life(of);
      for (const what of story) life.happen(what);
      expect(rest(life).finished).toBe(false);
      const up = life.running().map(({ name }) => name);
      expect(up.toSorted()).toEqual([...of.spec.containers.map(({ name }) => name), ...sidecarsOf(of)].toSorted());
      expect(life.status?.phase).toBe('Running');
    });
    fc.assert(property, { seed: 6, numRuns: 1_500 });
  });
});

/** Everything goes well from now on: init containers succeed, what has a startup probe starts, the rest runs. */
function rest(life: Life): PodPlan {
  const init = life.of.spec.initContainers ?? [];
  for (let round = 0; round < 60; round += 1) {
    for (const [at, { name }] of life.running().entries()) {
      const one = init.find((candidate) => candidate.name === name);
      if (one && !isSidecar(one)) life.happen({ kind: 'exit', which: at, code: 0 });
    }
    for (const at of life.running().keys()) life.happen({ kind: 'probe', which: at, says: 'started' });
    const plan = life.plan();
    const isQuiet =
      plan.steps.length === 0 &&
      life.running().every(({ name }) => !init.some((one) => one.name === name && !isSidecar(one)));
    life.perform(plan);
    if (isQuiet && plan.wakeAt === undefined && life.plan().steps.length === 0) return plan;
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
