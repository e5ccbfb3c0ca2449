import { describe, expect, it } from 'vitest';
import { CONTAINER_HASH } from '../../../src/model/cri/labels.ts';
import type { ObservedContainer } from '../../../src/model/observed.ts';
import type { Container, Pod, PodStatus } from '../../../src/model/pod.ts';
import type { ProbeFindings } from '../../../src/streams/workers/pod-work.ts';
import { container, exited, pod, sandbox, wanted } from '../../marbles/fakes.ts';
import { endedSandbox, found, planFor, planWithin, podOf, sidecar, steps } from './plans.ts';

type Rules = NonNullable<Container['restartPolicyRules']>;

const rule = (action: string, operator: string, ...values: readonly number[]): Rules[number] => ({
  action,
  exitCodes: { operator, values },
});
/** A pod of `main` and `peer`, with a policy of the pod, one of `main`, and rules of `main`. */
function ruled(policy: string, own: string | undefined, ...restartPolicyRules: Rules): Pod {
  const main = wanted('main', { restartPolicyRules, ...(own === undefined ? {} : { restartPolicy: own }) });
  return pod({ spec: { restartPolicy: policy, containers: [main, wanted('peer')] } });
}
const ended = (code: number, name = 'main'): ObservedContainer => exited(code, 0, { name });
const runs = (name: string): ObservedContainer => container({ name });

describe('planPod', () => {
  describe('asks the rules of a container first, then its policy, then that of the pod', () => {
    const restart42 = rule('Restart', 'In', 42);
    it.each<[string, Pod, number, readonly string[]]>([
      [
        'restarts a container that succeeded where the pod says Always',
        ruled('Always', undefined),
        0,
        ['start main 1'],
      ],
      [
        'restarts a container that failed where the pod says OnFailure',
        ruled('OnFailure', undefined),
        1,
        ['start main 1'],
      ],
      ['leaves a container that succeeded where the pod says OnFailure', ruled('OnFailure', undefined), 0, []],
      ['leaves a container that failed where the pod says Never', ruled('Never', undefined), 1, []],
      [
        'restarts a container that says Always for itself in a Never pod',
        ruled('Never', 'Always'),
        0,
        ['start main 1'],
      ],
      [
        'restarts a container that failed and says OnFailure for itself in a Never pod',
        ruled('Never', 'OnFailure'),
        1,
        ['start main 1'],
      ],
      [
        'leaves a container that succeeded and says OnFailure for itself in an Always pod',
        ruled('Always', 'OnFailure'),
        0,
        [],
      ],
      ['leaves a container that says Never for itself in an Always pod', ruled('Always', 'Never'), 1, []],
      [
        'restarts a container whose rule names its exit code, though its policy is Never',
        ruled('Never', 'Never', restart42),
        42,
        ['start main 1'],
      ],
      [
        'leaves a container to its policy Never where no rule names its exit code',
        ruled('Never', 'Never', restart42),
        7,
        [],
      ],
      [
        'leaves a container to its policy OnFailure where no rule names its exit code',
        ruled('Never', 'OnFailure', restart42),
        7,
        ['start main 1'],
      ],
      [
        'restarts a container by a NotIn rule that does not list its exit code',
        ruled('Never', 'Never', rule('Restart', 'NotIn', 0, 1)),
        2,
        ['start main 1'],
      ],
      [
        'does not restart a container by a NotIn rule that lists its exit code',
        ruled('Never', 'Never', rule('Restart', 'NotIn', 0, 1)),
        1,
        [],
      ],
      [
        'restarts a container by its second rule where the first does not match',
        ruled('Never', 'Never', restart42, rule('Restart', 'In', 7)),
        7,
        ['start main 1'],
      ],
      [
        'goes by the first of two rules that match',
        ruled('Never', 'Never', restart42, rule('RestartAllContainers', 'In', 42)),
        42,
        ['start main 1'],
      ],
    ])('%s', (_when, of, code, expected) => {
      expect(steps(planWithin(of, [runs('peer'), ended(code)]))).toEqual(expected);
    });

    it('lets a rule restart an init container of a Never pod', () => {
      const of = podOf([wanted('a', { restartPolicy: 'Never', restartPolicyRules: [restart42] })], {
        restartPolicy: 'Never',
      });
      expect(steps(planWithin(of, [ended(42, 'a')]))).toEqual(['start a 1']);
      expect(steps(planWithin(of, [ended(43, 'a')]))).toEqual(['stop the pod']);
    });

    it('starts in a new sandbox only what has not ended for good by its own policy', () => {
      const lost = (...containers: readonly ObservedContainer[]): Parameters<typeof planFor>[1] => ({
        sandboxes: [endedSandbox()],
        containers,
      });
      const of = ruled('Always', 'Never', restart42);
      expect(steps(planFor(of, lost(ended(137, 'peer'), ended(7))))).toEqual(['sandbox 1', 'start peer 1']);
      expect(steps(planFor(of, lost(ended(137, 'peer'), ended(42))))).toEqual([
        'sandbox 1',
        'start main 1',
        'start peer 1',
      ]);
      const alone = pod({
        spec: { restartPolicy: 'Always', containers: [wanted('main', { restartPolicy: 'Never' })] },
      });
      expect(planFor(alone, lost(ended(1))).finished).toBe(true);
    });

    it('slows down one that a rule restarts again and again', () => {
      const of = ruled('Never', 'Never', restart42);
      const { memory } = planWithin(of, [runs('peer'), exited(42, 1_000)], { now: 1_000 });
      const waits = planWithin(of, [runs('peer'), exited(42, 2_000, { attempt: 1 })], { memory, now: 3_000 });
      expect(steps(waits)).toEqual([]);
      expect(waits.waiting.get('main')?.reason).toBe('CrashLoopBackOff');
    });
  });

  describe('begins the whole pod anew where a rule asks for it', () => {
    const all = rule('RestartAllContainers', 'In', 42);
    const main = wanted('main', { restartPolicy: 'Never', restartPolicyRules: [all] });
    const of = podOf([wanted('i'), sidecar('s')], { restartPolicy: 'Never', containers: [main, wanted('peer')] });
    const life = [runs('peer'), ended(42), runs('s'), ended(0, 'i')];

    it('ends what runs without grace where a rule restarts all containers, and removes every trace but the logs', () => {
      expect(steps(planWithin(of, life))).toEqual([
        'stop peer-0 in 0 s',
        'stop s-0 in 0 s',
        'remove peer-0 but its log',
        'remove s-0 but its log',
        'remove i-0 but its log',
        'remove main-0 but its log',
      ]);
    });

    it('goes on with it after it was interrupted: what asks for it goes last', () => {
      const rest = [ended(42), ended(0, 'i')];
      expect(steps(planWithin(of, rest))).toEqual(['remove i-0 but its log', 'remove main-0 but its log']);
      expect(steps(planWithin(of, [ended(42)]))).toEqual(['remove main-0 but its log']);
    });

    it('leaves ephemeral containers alone, so that none of them runs a second time', () => {
      const debugged = { ...of, spec: { ...of.spec, ephemeralContainers: [wanted('debug'), wanted('over')] } };
      const seen = [runs('debug'), exited(0, 0, { name: 'over' }), ended(42)];
      expect(steps(planWithin(debugged, seen))).toEqual(['remove main-0 but its log']);
      expect(steps(planWithin(debugged, seen.slice(0, 2)))).toEqual(['start i by logs']);
    });

    it('keeps the sandbox where all containers are restarted, and starts with the first init container then', () => {
      expect(planWithin(of, life).sandbox).toEqual(sandbox());
      expect(steps(planWithin(of, []))).toEqual(['start i by logs']);
    });

    it('ends what nobody knows the state of before it removes it', () => {
      expect(steps(planWithin(of, [container({ name: 'peer', state: 'unknown' }), ended(42)]))).toEqual([
        'stop peer-0 in 0 s',
        'remove peer-0 but its log',
        'remove main-0 but its log',
      ]);
    });

    it('restarts all containers where an init container asks for it', () => {
      const asking = podOf([sidecar('s'), wanted('i', { restartPolicyRules: [all] })], { restartPolicy: 'Never' });
      expect(steps(planWithin(asking, [ended(42, 'i'), runs('s')]))).toEqual([
        'stop s-0 in 0 s',
        'remove s-0 but its log',
        'remove i-0 but its log',
      ]);
    });

    it('restarts not all containers for an end in a former sandbox', () => {
      const seen = {
        sandboxes: [sandbox({ attempt: 1 }), endedSandbox()],
        containers: [container({ name: 'i', attempt: 1, sandboxId: 's-1' }), ended(42)],
      };
      expect(steps(planFor(of, seen))).toEqual([]);
    });

    it('restarts not all containers where the one that ended does not ask for it', () => {
      expect(steps(planWithin(of, [runs('peer'), ended(41), runs('s'), ended(0, 'i')]))).toEqual([]);
    });
  });

  describe('heeds what probes have found', () => {
    const exec = { exec: { command: ['true'] } };
    const main = wanted('main', { livenessProbe: exec, startupProbe: { ...exec, terminationGracePeriodSeconds: 7 } });
    const under = (restartPolicy: string): Pod => pod({ spec: { restartPolicy, containers: [main, wanted('peer')] } });
    const both = [runs('peer'), runs('main')];

    it.each<[string, Pod, ReturnType<typeof found>, readonly string[]]>([
      ['keeps a container whose probes are well', under('Always'), found('main-0'), []],
      [
        'keeps a container whose startup probe has no result yet',
        under('Always'),
        found('main-0', { startup: 'unknown', started: false }),
        [],
      ],
      [
        'keeps a container that is only not ready',
        under('Always'),
        found('main-0', { readiness: 'failure', ready: false }),
        [],
      ],
      [
        'kills and restarts a container whose liveness probe failed',
        under('Always'),
        found('main-0', { liveness: 'failure' }),
        ['stop main-0', 'start main 1'],
      ],
      [
        'kills and restarts a container whose liveness probe failed under OnFailure',
        under('OnFailure'),
        found('main-0', { liveness: 'failure' }),
        ['stop main-0', 'start main 1'],
      ],
      [
        'kills a container whose liveness probe failed under Never, and does not restart it',
        under('Never'),
        found('main-0', { liveness: 'failure' }),
        ['stop main-0'],
      ],
      [
        'kills a container whose startup probe failed with the grace of that probe',
        under('Always'),
        found('main-0', { startup: 'failure', started: false }),
        ['stop main-0 in 7 s', 'start main 1'],
      ],
      [
        'kills a container whose liveness probe failed with the grace of that probe',
        pod({
          spec: {
            restartPolicy: 'Always',
            containers: [{ ...main, livenessProbe: { ...exec, terminationGracePeriodSeconds: 3 } }, wanted('peer')],
          },
        }),
        found('main-0', { liveness: 'failure' }),
        ['stop main-0 in 3 s', 'start main 1'],
      ],
      [
        'takes no probe result of an earlier instance for that of a container',
        under('Always'),
        found('main-9', { liveness: 'failure' }),
        [],
      ],
    ])('%s', (_rule, of, findings, expected) => {
      expect(steps(planWithin(of, both, { probes: [['main', findings]] }))).toEqual(expected);
    });

    it('kills a container for its changed definition before its liveness, and for its liveness before its startup', () => {
      const first = (more: Partial<ObservedContainer>, findings: Partial<ProbeFindings>): unknown => {
        const seen = [runs('peer'), container({ name: 'main', ...more })];
        const [step] = planWithin(under('Always'), seen, { probes: [['main', found('main-0', findings)]] }).steps;
        return step?.do === 'stopContainer' && [step.why, step.grace];
      };
      const [startup, liveness] = [{ startup: 'failure' }, { liveness: 'failure' }] as const;
      expect(first({ annotations: { [CONTAINER_HASH]: 'other' } }, { ...liveness, ...startup })).toEqual([
        'Container main definition changed, will be restarted',
        undefined,
      ]);
      expect(first({}, { ...liveness, ...startup })).toEqual([
        'Container main failed liveness probe, will be restarted',
        undefined,
      ]);
      expect(first({}, startup)).toEqual(['Container main failed startup probe, will be restarted', 7]);
    });

    it('tells a probe that failed as why a container is killed, in the words of the kubelet', () => {
      const why = (of: Pod, findings: ReturnType<typeof found>): string | undefined => {
        const [step] = planWithin(of, both, { probes: [['main', findings]] }).steps;
        return step?.do === 'stopContainer' ? step.why : undefined;
      };
      expect(why(under('Always'), found('main-0', { liveness: 'failure' }))).toBe(
        'Container main failed liveness probe, will be restarted',
      );
      expect(why(under('Always'), found('main-0', { startup: 'failure' }))).toBe(
        'Container main failed startup probe, will be restarted',
      );
      expect(why(under('Never'), found('main-0', { liveness: 'failure' }))).toBe(
        'Container main failed liveness probe',
      );
    });
  });

  describe('ends a pod at its deadline', () => {
    const of = pod({ spec: { activeDeadlineSeconds: 6, restartPolicy: 'Always' } });
    const verdict = {
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };

    it('wakes for the deadline of a pod, counted from its start', () => {
      const plan = planWithin(of, [runs('main')], { activeFor: 2_000, now: 12_000 });
      expect(steps(plan)).toEqual([]);
      expect(plan.wakeAt).toBe(16_000);
      expect(plan.verdict).toBeUndefined();
    });

    it('wakes for a back-off that ends before', () => {
      const { memory } = planWithin(of, [exited(1, 1_000)], { now: 1_000 });
      const waits = planWithin(of, [exited(1, 3_000, { attempt: 1 })], { activeFor: 2_000, now: 12_000, memory });
      expect(waits.wakeAt).toBe(13_000);
    });

    it('says at the deadline of a pod that it is Failed, before anything of it is stopped', () => {
      const plan = planWithin(of, [runs('main')], { activeFor: 6_000, now: 16_000 });
      expect(plan).toMatchObject({ steps: [], verdict, wakeAt: 16_000, finished: false });
    });

    it('stops a pod past its deadline, and starts nothing of it', () => {
      const plan = planWithin(of, [runs('main')], { status: verdict, activeFor: 6_000, now: 16_000 });
      expect(plan).toMatchObject({ steps: [{ do: 'stopPod', why: '' }], finished: false });
    });

    it('is finished when all is down', () => {
      const down = { sandboxes: [endedSandbox()], containers: [ended(143)] };
      expect(planFor(of, down, { status: verdict, activeFor: 9_000 })).toMatchObject({ steps: [], finished: true });
    });

    it('goes by how long the pod was active, whatever the wall clock says', () => {
      const status: PodStatus = { phase: 'Running', startTime: '1970-01-01T00:00:10Z' };
      const [hour, early] = [3_600_000, 0];
      const jumped = planWithin(of, [runs('main')], { status, activeFor: 5_000, now: hour });
      expect(jumped).toMatchObject({ steps: [], wakeAt: hour + 1_000 });
      expect(jumped.verdict).toBeUndefined();
      expect(planWithin(of, [runs('main')], { status, activeFor: 6_000, now: early }).verdict).toEqual(verdict);
    });
  });

  describe.each(['Succeeded', 'Failed'])('lets a pod rest that has %s', (phase) => {
    const status: PodStatus = { phase };
    it.each<[string, Parameters<typeof planFor>[1], readonly string[], boolean]>([
      ['with nothing of it there', {}, [], true],
      ['with its containers ended', { sandboxes: [endedSandbox()], containers: [ended(1)] }, [], true],
      [
        'after what still runs is stopped',
        { sandboxes: [sandbox()], containers: [runs('main')] },
        ['stop the pod'],
        false,
      ],
      ['after its sandbox is stopped', { sandboxes: [sandbox()], containers: [ended(0)] }, ['stop the pod'], false],
    ])('%s', (_how, seen, expected, finished) => {
      const plan = planFor(pod(), seen, { status });
      expect(steps(plan)).toEqual(expected);
      expect(plan.finished).toBe(finished);
    });
  });
});
