import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_HASH, CONTAINER_HASH } from '../../../src/model/cri/labels.ts';
import { containerHash } from '../../../src/model/container-hash.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../src/model/observed.ts';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { PodPlan } from '../../../src/runtime/plan-pod.ts';
import { container, exited, IMAGE, observed, pod, sandbox, wanted } from '../../marbles/fakes.ts';
import { found, planFor, steps } from './plans.ts';

function plan(of: Pod, seen: Partial<ObservedPod>, memory: PodMemory = NO_MEMORY, now = 1_000): PodPlan {
  return planFor(of, seen, { memory, now });
}

const OTHER_HASH = { [CONTAINER_HASH]: 'other' };
const HOSTS = sandbox({ hostNetwork: true, ips: [] });
const never = pod({ spec: { restartPolicy: 'Never' } });
const onFailure = pod({ spec: { restartPolicy: 'OnFailure' } });

describe('planPod', () => {
  describe('decides whether the pod needs a new sandbox', () => {
    it.each<[string, Pod, Partial<ObservedPod>, readonly string[]]>([
      ['makes the first sandbox, with attempt 0, where there is none', pod(), {}, ['sandbox 0', 'start main by logs']],
      [
        'keeps a sandbox that is ready and the only one',
        pod(),
        { sandboxes: [sandbox()], containers: [container()] },
        [],
      ],
      [
        'replaces a sandbox that ended by one with the next attempt',
        pod(),
        { sandboxes: [sandbox({ attempt: 3, state: 'notReady' })], containers: [exited(137, 0, { sandboxId: 's-3' })] },
        ['sandbox 4', 'start main 1'],
      ],
      [
        'ends the whole pod before it gets another sandbox',
        pod(),
        { sandboxes: [sandbox({ state: 'notReady' })], containers: [container()] },
        ['stop the pod', 'sandbox 1', 'start main 1'],
      ],
      [
        'replaces all sandboxes where more than one is ready',
        pod(),
        { sandboxes: [sandbox({ attempt: 1 }), sandbox()], containers: [container()] },
        ['stop the pod', 'sandbox 2', 'start main 1'],
      ],
      [
        'keeps the newest sandbox where only older ones ended',
        pod(),
        {
          sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
          containers: [container({ sandboxId: 's-1' })],
        },
        ['remove s-0'],
      ],
      [
        'replaces a sandbox on the network of the node when the pod wants its own',
        pod(),
        { sandboxes: [sandbox({ hostNetwork: true, ips: [] })], containers: [container()] },
        ['stop the pod', 'sandbox 1', 'start main 1'],
      ],
      [
        'replaces a sandbox with a network of its own when the pod wants that of the node',
        pod({ spec: { hostNetwork: true } }),
        { sandboxes: [sandbox()], containers: [container()] },
        ['stop the pod', 'sandbox 1', 'start main 1'],
      ],
      [
        'replaces a sandbox with a network of its own that has no address',
        pod(),
        { sandboxes: [sandbox({ ips: [] })] },
        ['stop the pod', 'sandbox 1', 'start main by logs'],
      ],
      [
        'keeps a sandbox without an address on the network of the node',
        pod({ spec: { hostNetwork: true } }),
        { sandboxes: [sandbox({ ips: [], hostNetwork: true })], containers: [container()] },
        [],
      ],
      [
        'keeps a sandbox that was not inspected yet',
        pod(),
        { sandboxes: [{ id: 's-0', attempt: 0, state: 'ready', createdAt: 0 }], containers: [container()] },
        [],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(plan(of, seen))).toEqual(expected);
    });
  });

  describe('decides what starts in a new sandbox', () => {
    const lost = (...containers: readonly ObservedContainer[]): Partial<ObservedPod> => ({
      sandboxes: [sandbox({ state: 'notReady' })],
      containers,
    });

    it.each<[string, Pod, Partial<ObservedPod>, readonly string[], boolean]>([
      ['makes no other sandbox for a Never pod that ran in one', never, lost(exited(137)), [], true],
      [
        'makes another sandbox for a Never pod that never ran',
        never,
        lost(),
        ['sandbox 1', 'start main by logs', 'remove s-0'],
        false,
      ],
      [
        'makes another sandbox for a Never pod whose container was made and never started',
        never,
        lost(container({ state: 'created' })),
        ['sandbox 1', 'start main 1'],
        false,
      ],
      [
        'starts a Never pod in its first sandbox whatever containers of it have ended',
        never,
        { containers: [exited(0)] },
        ['sandbox 0', 'start main 1'],
        false,
      ],
      ['makes no other sandbox where everything has succeeded under OnFailure', onFailure, lost(exited(0)), [], true],
      [
        'starts in a new sandbox what failed under OnFailure',
        onFailure,
        lost(exited(1)),
        ['sandbox 1', 'start main 1'],
        false,
      ],
      [
        'starts in a new sandbox what succeeded under Always',
        pod(),
        lost(exited(0)),
        ['sandbox 1', 'start main 1'],
        false,
      ],
      [
        'starts everything in a new sandbox under Always, whatever it ended with',
        pod({ names: ['a', 'b'], spec: {} }),
        lost(exited(0, 0, { name: 'a' }), exited(2, 0, { name: 'b' })),
        ['sandbox 1', 'start a 1', 'start b 1'],
        false,
      ],
      [
        'leaves out of a new sandbox what succeeded under OnFailure',
        { ...onFailure, spec: { ...onFailure.spec, containers: [wanted('a'), wanted('b')] } },
        lost(exited(0, 0, { name: 'a' }), exited(2, 0, { name: 'b' })),
        ['sandbox 1', 'start b 1'],
        false,
      ],
      [
        'only ends what still runs of a Never pod without a ready sandbox',
        never,
        lost(container()),
        ['stop the pod'],
        false,
      ],
    ])('%s', (_rule, of, seen, expected, finished) => {
      const made = plan(of, seen);
      expect(steps(made)).toEqual(expected);
      expect(made.finished).toBe(finished);
    });
  });

  describe('decides on each container in a ready sandbox', () => {
    const within = (...containers: readonly ObservedContainer[]): Partial<ObservedPod> => ({
      sandboxes: [sandbox()],
      containers,
    });

    it.each<[string, Pod, Partial<ObservedPod>, readonly string[]]>([
      ['starts a container of which there is no trace', pod(), within(), ['start main by logs']],
      ['leaves a container alone that runs as it is defined', pod(), within(container()), []],
      [
        'starts a container that was made and never started, without making it again',
        pod(),
        within(container({ state: 'created' })),
        ['start made main-0'],
      ],
      [
        'makes a container anew that was made in a sandbox that has ended',
        pod(),
        {
          sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
          containers: [container({ state: 'created' })],
        },
        ['start main 1'],
      ],
      [
        'makes a container anew that was made by another definition',
        pod(),
        within(container({ state: 'created', annotations: OTHER_HASH })),
        ['start main 1'],
      ],
      [
        'kills a container in a state that nobody knows, and starts it again',
        pod(),
        within(container({ state: 'unknown' })),
        ['stop main-0', 'start main 1'],
      ],
      [
        'kills and restarts a container in a state that nobody knows under Never too',
        never,
        within(container({ state: 'unknown' })),
        ['stop main-0', 'start main 1'],
      ],
      [
        'leaves a container alone of which only variables, arguments or probes changed',
        pod({
          spec: {
            containers: [
              wanted('main', {
                command: ['other'],
                args: ['other'],
                env: [{ name: 'OTHER', value: '1' }],
                livenessProbe: { exec: { command: ['other'] } },
                terminationMessagePolicy: 'FallbackToLogsOnError',
              }),
            ],
          },
        }),
        within(container()),
        [],
      ],
      [
        'kills and restarts a running container whose hash is not that of its definition',
        pod(),
        within(container({ annotations: OTHER_HASH })),
        ['stop main-0', 'start main 1'],
      ],
      [
        'kills and restarts a container whose definition changed under Never too',
        never,
        within(container({ annotations: OTHER_HASH })),
        ['stop main-0', 'start main 1'],
      ],
      ['restarts a container that succeeded under Always', pod(), within(exited(0)), ['start main 1']],
      ['restarts a container that failed under OnFailure', onFailure, within(exited(3)), ['start main 1']],
      ['ends a pod of which everything succeeded under OnFailure', onFailure, within(exited(0)), ['stop the pod']],
      ['ends a pod of which everything ended under Never', never, within(exited(3)), ['stop the pod']],
      [
        'lets a pod go on while one of its containers runs',
        pod({ names: ['a', 'b'], spec: { restartPolicy: 'Never', containers: [wanted('a'), wanted('b')] } }),
        within(container({ name: 'a' }), exited(1, 0, { name: 'b' })),
        [],
      ],
      [
        'starts containers in the order of the spec',
        pod({ names: ['zulu', 'alpha'] }),
        within(),
        ['start zulu by logs', 'start alpha by logs'],
      ],
      [
        'counts on from the newest instance of a container that starts again',
        pod(),
        within(container({ attempt: 6, state: 'unknown' })),
        ['stop main-6', 'start main 7'],
      ],
      [
        'replaces two containers one after the other',
        pod({ names: ['a', 'b'] }),
        within(container({ name: 'a', annotations: OTHER_HASH }), container({ name: 'b', annotations: OTHER_HASH })),
        ['stop a-0', 'start a 1', 'stop b-0', 'start b 1'],
      ],
      [
        'stops the older one of two that run under one name',
        pod(),
        within(container({ attempt: 1 }), container()),
        ['stop main-0'],
      ],
      [
        'kills and restarts a container that runs in a sandbox that has ended',
        pod(),
        {
          sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
          containers: [container()],
        },
        ['stop main-0', 'start main 1'],
      ],
      [
        'stops a container that is no longer in the pod',
        pod(),
        within(container(), container({ name: 'old' })),
        ['stop old-0'],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(plan(of, seen))).toEqual(expected);
    });

    it('says why, in the words of the kubelet', () => {
      const whyOf = (seen: Partial<ObservedPod>): string | undefined => {
        const [step] = plan(pod(), seen).steps;
        return step && 'why' in step ? step.why : undefined;
      };
      expect(whyOf(within(container({ annotations: OTHER_HASH })))).toBe(
        'Container main definition changed, will be restarted',
      );
      expect(whyOf(within(container({ state: 'unknown' })))).toBe(
        'Container is in "unknown" state, try killing it before restart',
      );
    });

    it('gives no reason for containers whose sandbox is replaced: each is told as being stopped', () => {
      const { steps: all } = plan(pod(), { sandboxes: [sandbox({ state: 'notReady' })], containers: [container()] });
      expect(all[0]).toEqual({ do: 'stopPod', why: '' });
    });

    it.each<[string, Pod, readonly ObservedSandbox[], true | undefined]>([
      ['makes no word of a sandbox that takes the place of one in another network', pod(), [HOSTS], true],
      ['makes a word of one that takes the place of two', pod(), [HOSTS, sandbox({ id: 's-1' })], undefined],
      [
        'makes a word of one that takes the place of one that has ended',
        pod(),
        [{ ...HOSTS, state: 'notReady' }],
        undefined,
      ],
      ['makes a word of one that takes the place of one without an address', pod(), [sandbox({ ips: [] })], undefined],
    ])('%s', (_rule, of, sandboxes, quiet) => {
      const made = plan(of, { sandboxes, containers: [] }).steps.find((step) => step.do === 'runSandbox');
      expect(made).toEqual({ do: 'runSandbox', attempt: 1, ...(quiet && { quiet }) });
    });

    it.each<[string, string | undefined, string | undefined, readonly string[]]>([
      [
        'restarts a container whose objects have changed since it was made',
        'old',
        'new',
        ['stop main-0', 'start main 1'],
      ],
      ['leaves a container alone whose objects are as they were', 'same', 'same', []],
      ['leaves a container alone that does not follow its objects', 'old', undefined, []],
      ['leaves a container alone of which it is not known what its objects were', undefined, 'new', []],
    ])('%s', (_rule, before, now, expected) => {
      const annotations = { ...container().annotations, ...(before === undefined ? {} : { [CONFIG_HASH]: before }) };
      const configHashes = new Map(now === undefined ? [] : [['main', now]]);
      expect(steps(planFor(pod(), within(container({ annotations })), { configHashes }))).toEqual(expected);
    });

    it('hands on the sandbox that the containers go into', () => {
      expect(plan(pod(), within()).sandbox).toEqual(sandbox());
      expect(plan(pod(), {}).sandbox).toBeUndefined();
    });
  });

  describe('keeps a crash-looping container waiting', () => {
    const crashed = (finishedAt: number): Partial<ObservedPod> => ({
      sandboxes: [sandbox()],
      containers: [exited(1, finishedAt)],
    });
    const afterFirst = plan(pod(), crashed(1_000), NO_MEMORY, 1_000);

    it('restarts a container at once after its first end, and remembers 10 s for the next', () => {
      expect(steps(afterFirst)).toEqual(['start main 1']);
      expect(afterFirst.memory.restarts.get('main')?.backoff).toEqual({ delay: 10_000, since: 1_000 });
    });

    it('lets a container that ends again wait as CrashLoopBackOff, tells how long, and wakes at the end of the wait', () => {
      const waits = plan(pod(), crashed(2_000), afterFirst.memory, 3_000);
      expect(steps(waits)).toEqual([]);
      expect(waits.finished).toBe(false);
      expect(waits.wakeAt).toBe(12_000);
      expect(waits.waiting.get('main')).toEqual({
        reason: 'CrashLoopBackOff',
        message: 'back-off 10s restarting failed container=main pod=web_default(u-1)',
      });
      expect(waits.memory).toEqual(afterFirst.memory);
    });

    it('restarts a container when its wait is over, and doubles the next one', () => {
      const again = plan(pod(), crashed(2_000), afterFirst.memory, 12_000);
      expect(steps(again)).toEqual(['start main 1']);
      expect(again.memory.restarts.get('main')?.backoff).toEqual({ delay: 20_000, since: 12_000 });
    });

    it.each<[string, Partial<Container>, readonly string[]]>([
      ['forgets the wait of a container when an edit changes its image', { image: 'busybox:2' }, ['start main 1']],
      [
        'forgets the wait of a container when an edit changes its resources',
        { resources: { limits: { cpu: '1' } } },
        ['start main 1'],
      ],
      ['keeps the wait of a container when an edit changes its command', { command: ['other'] }, []],
    ])('%s', (_rule, edit, expected) => {
      const edited = pod({ spec: { containers: [wanted('main', edit)] } });
      expect(steps(plan(edited, crashed(2_000), afterFirst.memory, 3_000))).toEqual(expected);
    });

    it('lets a container wait no longer than the annotation of its pod says', () => {
      const impatient = pod({ metadata: { annotations: { 'rxlet.dev/max-container-restart-period': '3s' } } });
      expect(plan(impatient, crashed(2_000), afterFirst.memory, 3_000).wakeAt).toBe(5_000);
    });

    it('lets a container that succeeds again and again under Always wait like one that fails', () => {
      const succeeded = (finishedAt: number): Partial<ObservedPod> => ({
        sandboxes: [sandbox()],
        containers: [exited(0, finishedAt)],
      });
      const { memory } = plan(pod(), succeeded(1_000), NO_MEMORY, 1_000);
      const waits = plan(pod(), succeeded(2_000), memory, 3_000);
      expect(steps(waits)).toEqual([]);
      expect(waits.waiting.get('main')?.reason).toBe('CrashLoopBackOff');
      expect(waits.wakeAt).toBe(12_000);
    });

    it('only kills a container whose probe failed while its wait goes on, and restarts it when that is over', () => {
      const probes = [['main', found('main-1', { liveness: 'failure' })]] as const;
      const former = exited(1, 1_000);
      const seen = { sandboxes: [sandbox()], containers: [container({ attempt: 1 }), former] };
      const killed = planFor(pod(), seen, { memory: afterFirst.memory, now: 5_000, probes });
      expect(steps(killed)).toEqual(['stop main-1']);
      const then = { ...seen, containers: [exited(137, 6_000, { attempt: 1 }), former] };
      expect(plan(pod(), then, killed.memory, 6_000).wakeAt).toBe(16_000);
      expect(steps(plan(pod(), then, killed.memory, 16_000))).toContain('start main 2');
      const later = planFor(pod(), seen, { memory: afterFirst.memory, now: 11_000, probes });
      expect(steps(later)).toEqual(['stop main-1', 'start main 2']);
    });

    it('lets no container wait for the back-off of another, and wakes for the one that waits least', () => {
      const two = pod({ names: ['a', 'b', 'c'] });
      const seen: Partial<ObservedPod> = {
        sandboxes: [sandbox()],
        containers: [exited(1, 1_000, { name: 'a' }), exited(1, 5_000, { name: 'b' })],
      };
      const first = plan(two, seen, NO_MEMORY, 5_000);
      const next = plan(two, { ...seen, containers: seen.containers ?? [] }, first.memory, 5_500);
      expect(steps(next)).toEqual(['start c by logs']);
      expect([...next.waiting.keys()]).toEqual(['a', 'b']);
      expect(next.wakeAt).toBe(11_000);
    });

    it('waits the least time of all for a restart of which an agent that was killed left no word, and then longer', () => {
      const seen: Partial<ObservedPod> = { sandboxes: [sandbox()], containers: [exited(1, 2_000, { attempt: 1 })] };
      const waits = plan(pod(), seen, NO_MEMORY, 3_000);
      expect(steps(waits)).toEqual([]);
      expect(waits.wakeAt).toBe(12_000);
      const again = plan(pod(), seen, waits.memory, 12_000);
      expect(steps(again)).toEqual(['start main 2']);
      expect(again.memory.restarts.get('main')?.backoff.delay).toBe(20_000);
    });

    it('restarts at once what a liveness probe had restarted before, as long as the agent lives', () => {
      const seen: Partial<ObservedPod> = { sandboxes: [sandbox()], containers: [exited(1, 2_000, { attempt: 1 })] };
      expect(steps(plan(pod(), seen, { ...NO_MEMORY, actedAt: 3 }, 3_000))).toEqual(['start main 2']);
    });

    it('goes without memory of what the agent did before it was restarted', () => {
      expect(steps(plan(pod(), crashed(2_000), NO_MEMORY, 2_001))).toEqual(['start main 1']);
    });
  });

  describe('tidies up', () => {
    it('keeps of each container only the newest instance that ended, beside the one that runs', () => {
      const seen: Partial<ObservedPod> = {
        sandboxes: [sandbox()],
        containers: [container({ attempt: 3 }), exited(1, 0, { attempt: 2 }), exited(1, 0, { attempt: 1 }), exited(1)],
      };
      expect(steps(plan(pod(), seen))).toEqual(['remove main-1', 'remove main-0']);
    });

    it('removes what was made and never started once there is a newer one', () => {
      const seen: Partial<ObservedPod> = {
        sandboxes: [sandbox()],
        containers: [container({ attempt: 1 }), container({ state: 'created' })],
      };
      expect(steps(plan(pod(), seen))).toEqual(['remove main-0']);
    });

    it('keeps a sandbox that ended while it holds a container that is kept', () => {
      const seen: Partial<ObservedPod> = {
        sandboxes: [
          sandbox({ attempt: 2 }),
          sandbox({ attempt: 1, state: 'notReady' }),
          sandbox({ state: 'notReady' }),
        ],
        containers: [
          container({ attempt: 2, sandboxId: 's-2' }),
          exited(1, 0, { attempt: 1, sandboxId: 's-1' }),
          exited(1, 0, { sandboxId: 's-0' }),
        ],
      };
      expect(steps(plan(pod(), seen))).toEqual(['remove main-0', 'remove s-0']);
    });
  });

  describe('slows down when one sandbox after another ends', () => {
    const gone: Partial<ObservedPod> = { sandboxes: [sandbox({ state: 'notReady' })] };

    it('makes two sandboxes at once, then waits 1, 2, 4, ... up to 60 seconds between them', () => {
      const at: number[] = [];
      let memory: PodMemory = NO_MEMORY;
      for (let now = 0; at.length < 10;) {
        const next = plan(pod(), gone, memory, now);
        if (next.steps.length > 0) at.push(now);
        memory = next.memory;
        now = next.wakeAt ?? now;
      }
      expect(at.map((ms, n) => (ms - (at[n - 1] ?? 0)) / 1_000)).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
    });

    it('says so while it waits, and ends what is up', () => {
      const memory: PodMemory = { ...NO_MEMORY, sandbox: { delay: 4_000, since: 1_000 } };
      const waits = plan(pod(), { sandboxes: [sandbox({ ips: [] })] }, memory, 2_000);
      expect(steps(waits)).toEqual(['stop the pod']);
      expect(waits.wakeAt).toBe(5_000);
      expect(waits.waiting.get('main')?.reason).toBe('CreatePodSandboxError');
      expect(waits.finished).toBe(false);
    });

    it('forgets the series after a minute of calm', () => {
      const memory: PodMemory = { ...NO_MEMORY, sandbox: { delay: 8_000, since: 0 } };
      expect(plan(pod(), gone, memory, 67_999).memory.sandbox?.delay).toBe(16_000);
      expect(plan(pod(), gone, memory, 68_000).memory.sandbox?.delay).toBe(0);
    });

    it('does not wait for a clock that was set back', () => {
      const memory: PodMemory = { ...NO_MEMORY, sandbox: { delay: 8_000, since: 1_000_000 } };
      expect(steps(plan(pod(), gone, memory, 0))).toEqual(['sandbox 1', 'start main by logs', 'remove s-0']);
    });
  });

  describe('whatever the runtime holds', () => {
    const property = fc.property(podAndWorld(), ({ of, seen }) => {
      let world = seen;
      let memory = NO_MEMORY;
      let now = 1_000_000;
      for (let round = 0; ; round += 1) {
        const next = plan(of, world, memory, now);
        if (next.steps.length === 0 && next.wakeAt === undefined) {
          expectWellRun(of, world, next);
          return;
        }
        expect(round).toBeLessThan(8);
        world = applied(next, world, now);
        memory = next.memory;
        now = Math.max(now, next.wakeAt ?? now);
      }
    });

    it('comes to rest after a few plans, never starts what runs, and never lets two of a name run', () => {
      fc.assert(property, { seed: 11, numRuns: 2_000 });
    });
  });
});

/** At rest, each container runs once in the sandbox in use, or has ended for good. */
function expectWellRun({ spec }: Pod, { sandboxes, containers }: ObservedPod, { finished }: PodPlan): void {
  const running = containers.filter(({ state }) => state === 'running');
  const ready = sandboxes.filter(({ state }) => state === 'ready');
  expect(ready.length).toBe(finished ? 0 : 1);
  expect(running.every(({ sandboxId }) => sandboxId === ready[0]?.id)).toBe(true);
  if (finished) expect(running).toEqual([]);
  else if ((spec.restartPolicy ?? 'Always') === 'Always') {
    expect(running.map(({ name }) => name).toSorted()).toEqual(spec.containers.map(({ name }) => name).toSorted());
  }
}

/** The world after the steps, were every call to succeed. Refuses what a plan must never ask for. */
function applied({ steps: todo, sandbox: usable }: PodPlan, before: ObservedPod, now: number): ObservedPod {
  let inUse = usable?.id;
  let sandboxes = before.sandboxes;
  let containers = before.containers;
  const end = (these: (id: string) => boolean): void => {
    containers = containers.map((seen) =>
      these(seen.id) && (seen.state === 'running' || seen.state === 'unknown')
        ? exited(137, now, { ...seen, state: 'exited' })
        : seen,
    );
  };
  const run = (started: ObservedContainer): void => {
    expect(containers.some(({ name, state }) => name === started.name && state === 'running')).toBe(false);
    expect(sandboxes.find(({ id }) => id === started.sandboxId)?.state).toBe('ready');
    containers = [started, ...containers.filter(({ id }) => id !== started.id)];
  };
  for (const step of todo) {
    switch (step.do) {
      case 'stopPod':
        end(() => true);
        sandboxes = sandboxes.map((stopped): ObservedSandbox => ({ ...stopped, state: 'notReady' }));
        break;
      case 'stopContainer':
        end((id) => id === step.container.id);
        break;
      case 'runSandbox':
        expect(sandboxes.some(({ state, attempt }) => state === 'ready' || attempt === step.attempt)).toBe(false);
        inUse = `s-${step.attempt}`;
        sandboxes = [sandbox({ attempt: step.attempt }), ...sandboxes];
        break;
      case 'startContainer': {
        const { name } = step.container;
        const attempt = step.attempt ?? 0;
        expect(containers.some((seen) => seen.name === name && seen.attempt === attempt)).toBe(false);
        run(container({ name, attempt, sandboxId: inUse ?? '' }));
        break;
      }
      case 'startCreated':
        run({ ...step.created, state: 'running' });
        break;
      case 'removeContainer':
        expect(step.container.state).not.toBe('running');
        containers = containers.filter(({ id }) => id !== step.container.id);
        break;
      case 'removeSandbox':
        expect(containers.some(({ sandboxId }) => sandboxId === step.sandbox.id)).toBe(false);
        sandboxes = sandboxes.filter(({ id }) => id !== step.sandbox.id);
        break;
    }
  }
  return { ...before, sandboxes, containers: containers.toSorted((a, b) => b.attempt - a.attempt) };
}

/** Any pod of up to three containers, and any mess of its sandboxes and containers. */
function podAndWorld(): fc.Arbitrary<{ readonly of: Pod; readonly seen: ObservedPod }> {
  const names = fc.subarray(['a', 'b', 'c'], { minLength: 1 });
  const policy = fc.constantFrom('Always', 'OnFailure', 'Never');
  const boxes = fc.array(
    fc.record({ state: fc.constantFrom('ready' as const, 'notReady' as const), hasIp: fc.boolean() }),
    { maxLength: 3 },
  );
  const instance = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'old'),
    state: fc.constantFrom('created' as const, 'running' as const, 'exited' as const, 'unknown' as const),
    exitCode: fc.constantFrom(0, 1),
    box: fc.nat(),
    isCurrent: fc.boolean(),
  });
  return fc
    .tuple(names, policy, boxes, fc.array(instance, { maxLength: 6 }))
    .map(([of, restartPolicy, given, instances]) => {
      const sandboxes = given
        .map(({ state, hasIp }, attempt) => sandbox({ attempt, state, ips: hasIp ? ['10.0.0.7'] : [] }))
        .toReversed();
      const containers = (given.length === 0 ? [] : instances).map(
        ({ name, state, exitCode, box, isCurrent }, attempt) => {
          const more = {
            name,
            attempt,
            sandboxId: `s-${box % given.length}`,
            annotations: { [CONTAINER_HASH]: isCurrent ? containerHash(name, IMAGE) : 'other' },
          };
          return state === 'exited' ? exited(exitCode, 0, more) : container({ ...more, state });
        },
      );
      return {
        of: pod({ names: of, spec: { restartPolicy, containers: of.map((name) => wanted(name)) } }),
        seen: observed({ sandboxes, containers: containers.toReversed() }),
      };
    });
}
