import { describe, expect, it } from 'vitest';
import { CONTAINER_HASH } from '../../../src/model/cri/labels.ts';
import type { ObservedContainer } from '../../../src/model/observed.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { ProbeFindings } from '../../../src/streams/workers/pod-work.ts';
import { container, exited, sandbox, wanted } from '../../marbles/fakes.ts';
import { endedSandbox, found, planFor, planWithin, podOf, sidecar, steps } from './plans.ts';

const STARTUP = { startupProbe: { exec: { command: ['true'] } } };
const LIVENESS = { livenessProbe: { exec: { command: ['true'] } } };
const OTHER_HASH = { [CONTAINER_HASH]: 'other' };

const two = podOf([wanted('a'), wanted('b')]);
const never = podOf([wanted('a'), wanted('b')], { restartPolicy: 'Never' });
const onFailure = podOf([wanted('a'), wanted('b')], { restartPolicy: 'OnFailure' });
const around = podOf([wanted('a'), sidecar('s'), wanted('b')]);
const gated = podOf([sidecar('s', STARTUP), wanted('b')]);
const probed = podOf([sidecar('s', { ...STARTUP, ...LIVENESS })]);

const done = (name: string): ObservedContainer => exited(0, 0, { name });
const failed = (name: string, code = 1): ObservedContainer => exited(code, 0, { name });
const oomKilled = (name: string): ObservedContainer => {
  const dead = exited(0, 0, { name });
  return { ...dead, detail: { ...(dead.detail ?? neverInspected()), reason: 'OOMKilled' } };
};
function neverInspected(): never {
  throw new Error('a container that ended has details');
}
const runs = (name: string, more: Partial<ObservedContainer> = {}): ObservedContainer => container({ name, ...more });

describe('planInit', () => {
  describe('brings the init containers to their end, one after the other', () => {
    it.each<[string, Pod, readonly ObservedContainer[], readonly string[]]>([
      ['starts the first init container where none has a status', two, [], ['start a by logs']],
      ['waits for an init container that runs', two, [runs('a')], []],
      [
        'starts an init container again that was made and never started',
        two,
        [runs('a', { state: 'created' })],
        ['start made a-0'],
      ],
      ['starts the next init container when one has succeeded', two, [done('a')], ['start b by logs']],
      [
        'starts the regular containers when the last init container has succeeded',
        two,
        [done('b'), done('a')],
        ['start main by logs'],
      ],
      [
        'goes by the last init container that has a status, and does not look back',
        two,
        [done('b')],
        ['start main by logs'],
      ],
      [
        'waits for the last init container that has a status, whatever became of those before it',
        two,
        [runs('b'), failed('a')],
        [],
      ],
      ['does not start regular containers beside an init container', two, [runs('b'), done('a')], []],
      [
        'kills and restarts an init container in a state that nobody knows',
        two,
        [runs('a', { state: 'unknown' })],
        ['stop a-0', 'start a 1'],
      ],
      [
        'makes an init container anew that was made by another definition',
        two,
        [runs('a', { state: 'created', annotations: OTHER_HASH })],
        ['start a 1'],
      ],
      [
        'lets an init container that runs finish, however it is defined now',
        two,
        [runs('a', { annotations: OTHER_HASH })],
        [],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(planWithin(of, seen))).toEqual(expected);
    });
  });

  describe('restarts one that failed, or gives the pod up', () => {
    it.each<[string, Pod, readonly ObservedContainer[], readonly string[]]>([
      ['restarts an init container that failed under Always', two, [failed('a')], ['start a 1']],
      ['restarts an init container that failed under OnFailure', onFailure, [failed('a')], ['start a 1']],
      ['ends the pod when an init container failed under Never', never, [failed('a')], ['stop the pod']],
      [
        'ends the pod when a later init container failed under Never',
        never,
        [failed('b'), done('a')],
        ['stop the pod'],
      ],
      [
        'ends the pod when an init container under Never is in a state that nobody knows',
        never,
        [runs('a', { state: 'unknown' })],
        ['stop the pod'],
      ],
      [
        'restarts an init container in a state that nobody knows by its own OnFailure in a Never pod',
        podOf([wanted('a', { restartPolicy: 'OnFailure' })], { restartPolicy: 'Never' }),
        [runs('a', { state: 'unknown' })],
        ['stop a-0', 'start a 1'],
      ],
      ['goes on under Never when an init container succeeded', never, [done('a')], ['start b by logs']],
      [
        'counts an init container that was OOMKilled as failed, whatever its exit code',
        two,
        [oomKilled('a')],
        ['start a 1'],
      ],
      ['ends a Never pod when an init container was OOMKilled', never, [oomKilled('a')], ['stop the pod']],
      [
        'ends the pod when an init container with a policy Never of its own failed',
        podOf([wanted('a', { restartPolicy: 'Never' })]),
        [failed('a')],
        ['stop the pod'],
      ],
      [
        'restarts an init container that failed by its own OnFailure in a Never pod',
        podOf([wanted('a', { restartPolicy: 'OnFailure' })], { restartPolicy: 'Never' }),
        [failed('a')],
        ['start a 1'],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(planWithin(of, seen))).toEqual(expected);
    });

    it('lets an init container that fails again and again wait as CrashLoopBackOff', () => {
      const first = planWithin(two, [exited(1, 1_000, { name: 'a' })], { now: 1_000 });
      const second = [exited(1, 2_000, { name: 'a', attempt: 1 })];
      const waits = planWithin(two, second, { memory: first.memory, now: 3_000 });
      expect(steps(waits)).toEqual([]);
      expect(waits.wakeAt).toBe(12_000);
      expect(waits.waiting.get('a')).toEqual({
        reason: 'CrashLoopBackOff',
        message: 'back-off 10s restarting failed container=a pod=web_default(u-1)',
      });
      expect(steps(planWithin(two, second, { memory: first.memory, now: 12_000 }))).toEqual(['start a 2']);
    });

    it('is finished for good once all of a failed Never pod is down', () => {
      const plan = planFor(never, { sandboxes: [endedSandbox()], containers: [failed('a')] });
      expect(steps(plan)).toEqual([]);
      expect(plan.finished).toBe(true);
    });
  });

  describe('keeps sidecars running beside the others', () => {
    it.each<[string, Pod, readonly ObservedContainer[], readonly string[]]>([
      ['starts a sidecar in its turn', around, [done('a')], ['start s by logs']],
      ['starts what follows a sidecar as soon as it runs', around, [runs('s'), done('a')], ['start b by logs']],
      [
        'starts the regular containers when the last init container is a sidecar that runs',
        podOf([sidecar('s')]),
        [runs('s')],
        ['start main by logs'],
      ],
      [
        'starts a sidecar again that was made and never started',
        around,
        [runs('s', { state: 'created' }), done('a')],
        ['start made s-0'],
      ],
      [
        'restarts a sidecar that ended while a later init container runs',
        around,
        [runs('b'), failed('s'), done('a')],
        ['start s 1'],
      ],
      [
        'restarts a sidecar that failed while the pod runs',
        around,
        [runs('main'), done('b'), failed('s'), done('a')],
        ['start s 1'],
      ],
      [
        'restarts a sidecar that succeeded, too',
        around,
        [runs('main'), done('b'), done('s'), done('a')],
        ['start s 1'],
      ],
      [
        'does not start what follows a sidecar that has ended before it runs again',
        podOf([sidecar('s')]),
        [failed('s')],
        ['start s 1'],
      ],
      [
        'restarts a sidecar in a Never pod',
        podOf([sidecar('s')], { restartPolicy: 'Never' }),
        [runs('main'), failed('s')],
        ['start s 1'],
      ],
      [
        'restarts a sidecar that succeeded in an OnFailure pod',
        podOf([sidecar('s')], { restartPolicy: 'OnFailure' }),
        [runs('main'), done('s')],
        ['start s 1'],
      ],
      [
        'restarts a sidecar in a state that nobody knows in a Never pod',
        podOf([sidecar('s')], { restartPolicy: 'Never' }),
        [runs('main'), runs('s', { state: 'unknown' })],
        ['stop s-0', 'start s 1'],
      ],
      [
        'starts a sidecar that is missing while the pod runs',
        around,
        [runs('main'), done('b'), done('a')],
        ['start s by logs'],
      ],
      [
        'starts several sidecars that are missing in the order of the spec',
        podOf([sidecar('s'), sidecar('t'), sidecar('u')]),
        [runs('main'), runs('t')],
        ['start s by logs', 'start u by logs'],
      ],
      [
        'kills and restarts a sidecar whose image changed (ask 44)',
        around,
        [runs('main'), runs('s', { annotations: OTHER_HASH }), done('b'), done('a')],
        ['stop s-0', 'start s 1'],
      ],
      [
        'kills and restarts a sidecar in a state that nobody knows',
        around,
        [runs('main'), runs('s', { state: 'unknown' }), done('b'), done('a')],
        ['stop s-0', 'start s 1'],
      ],
      [
        'ends sidecars with the pod when nothing else is left of it',
        podOf([sidecar('s'), sidecar('t')], { restartPolicy: 'Never' }),
        [done('main'), runs('t'), runs('s')],
        ['stop the pod'],
      ],
      [
        'does not restart a sidecar when nothing else is left of the pod',
        podOf([sidecar('s')], { restartPolicy: 'Never' }),
        [done('main'), failed('s')],
        ['stop the pod'],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(planWithin(of, seen))).toEqual(expected);
    });
  });

  describe('holds back what follows a sidecar until its startup probe has succeeded', () => {
    const notYet = found('s-0', { startup: 'unknown', started: false, ready: false });
    it.each<
      [string, Pod, readonly ObservedContainer[], readonly (readonly [string, ProbeFindings])[], readonly string[]]
    >([
      ['starts nothing after a sidecar whose startup probe has no result', gated, [runs('s')], [], []],
      ['starts nothing after a sidecar whose startup probe has not succeeded', gated, [runs('s')], [['s', notYet]], []],
      [
        'starts what follows a sidecar when its startup probe has succeeded',
        gated,
        [runs('s')],
        [['s', found('s-0')]],
        ['start b by logs'],
      ],
      [
        'takes no probe result of an earlier instance of a sidecar for it',
        gated,
        [runs('s', { attempt: 1 })],
        [['s', found('s-0')]],
        [],
      ],
      [
        'kills and restarts a sidecar whose startup probe failed',
        gated,
        [runs('s')],
        [['s', found('s-0', { startup: 'failure', started: false })]],
        ['stop s-0', 'start s 1'],
      ],
      [
        'replaces a sidecar whose image changed before its startup probe has a result',
        gated,
        [runs('s', { annotations: OTHER_HASH })],
        [],
        ['stop s-0', 'start s 1'],
      ],
      [
        'holds nothing back for the startup probe of a sidecar once the pod has begun',
        gated,
        [runs('main'), runs('s'), done('b')],
        [],
        [],
      ],
      [
        'lets a regular container restart though the startup probe of a sidecar has no result (ask 43)',
        gated,
        [failed('main'), runs('s'), done('b')],
        [],
        ['start main 1'],
      ],
      [
        'kills and restarts a sidecar whose liveness probe failed',
        probed,
        [runs('main'), runs('s')],
        [['s', found('s-0', { liveness: 'failure' })]],
        ['stop s-0', 'start s 1'],
      ],
    ])('%s', (_rule, of, seen, probes, expected) => {
      expect(steps(planWithin(of, seen, { probes }))).toEqual(expected);
    });

    it('says of an init container in a state that nobody knows what the kubelet says', () => {
      const whyOf = (of: Pod, name: string): string | undefined => {
        const [step] = planWithin(of, [runs(name, { state: 'unknown' })]).steps;
        return step?.do === 'stopContainer' ? step.why : undefined;
      };
      const why = 'Init container is in "unknown" state, try killing it before restart';
      expect([whyOf(two, 'a'), whyOf(podOf([sidecar('s')]), 's')]).toEqual([why, why]);
    });

    it('says of a sidecar that it is an init container, as the kubelet does', () => {
      const whyOf = (seen: readonly ObservedContainer[], findings: ProbeFindings): string | undefined => {
        const [step] = planWithin(probed, seen, { probes: [['s', findings]] }).steps;
        return step?.do === 'stopContainer' ? step.why : undefined;
      };
      const seen = [runs('main'), runs('s')];
      expect(whyOf(seen, found('s-0', { liveness: 'failure' }))).toBe('Init container s failed liveness probe');
      expect(whyOf(seen, found('s-0', { startup: 'failure' }))).toBe('Init container s failed startup probe');
      const changed = [runs('main'), runs('s', { annotations: OTHER_HASH })];
      expect(whyOf(changed, found('s-0'))).toBe('Init container s definition changed');
    });
  });

  describe('never runs an init container twice in one sandbox', () => {
    it.each<[string, readonly ObservedContainer[], readonly string[]]>([
      [
        'runs no init container again while a regular container runs, though all traces of them are gone (ask 41)',
        [runs('main')],
        [],
      ],
      [
        'runs no init container again while a regular container waits to be started, though all traces of them are gone (ask 41)',
        [runs('main', { state: 'created' })],
        ['start made main-0'],
      ],
      [
        'runs no init container again after a regular container has crashed, though all traces of them are gone (ask 41)',
        [failed('main')],
        ['start main 1'],
      ],
    ])('%s', (_rule, seen, expected) => {
      expect(steps(planWithin(two, seen))).toEqual(expected);
    });

    it('removes all init containers before a new sandbox, and runs the first one anew in it', () => {
      const seen = { sandboxes: [endedSandbox()], containers: [failed('main', 137), done('b'), done('a')] };
      expect(steps(planFor(two, seen))).toEqual([
        'remove b-0 but its log',
        'remove a-0 but its log',
        'sandbox 1',
        'start a 1',
      ]);
    });

    it('even where the runtime did not let go of their former instances', () => {
      const seen = {
        sandboxes: [sandbox({ attempt: 1 }), endedSandbox()],
        containers: [runs('a', { attempt: 1, sandboxId: 's-1' }), failed('main', 137), done('b'), done('a')],
      };
      expect(steps(planFor(two, seen)).filter((step) => step.startsWith('start'))).toEqual([]);
      const then = {
        ...seen,
        containers: [{ ...done('a'), id: 'a-1', attempt: 1, sandboxId: 's-1' }, ...seen.containers.slice(1)],
      };
      expect(steps(planFor(two, then)).filter((step) => step.startsWith('start'))).toEqual(['start b 1']);
    });

    it('removes every instance of the init containers before a new sandbox, however many there are', () => {
      const old = (attempt: number): ObservedContainer => exited(attempt === 2 ? 0 : 1, 0, { name: 'a', attempt });
      const seen = { sandboxes: [endedSandbox()], containers: [old(2), old(1), old(0)] };
      expect(steps(planFor(podOf([wanted('a')]), seen)).filter((step) => step.startsWith('remove a'))).toEqual([
        'remove a-2 but its log',
        'remove a-1 but its log',
        'remove a-0 but its log',
      ]);
    });
  });

  it('keeps of each init container only the newest instance that ended', () => {
    const old = (attempt: number): ObservedContainer => exited(attempt === 2 ? 0 : 1, 0, { name: 'a', attempt });
    expect(steps(planWithin(two, [runs('b'), old(2), old(1), old(0)]))).toEqual(['remove a-1', 'remove a-0']);
  });

  describe('starts ephemeral containers once', () => {
    const withDebugger = (regular: readonly ObservedContainer[]): readonly string[] => {
      const of = podOf([wanted('a')], {
        ephemeralContainers: [wanted('debug')],
      });
      return steps(planWithin(of, regular));
    };
    it('starts ephemeral containers beside init containers, and before them', () => {
      expect(withDebugger([])).toEqual(['start debug by logs', 'start a by logs']);
      expect(withDebugger([runs('a')])).toEqual(['start debug by logs']);
    });
    it('starts an ephemeral container never again, however it ended', () => {
      expect(withDebugger([runs('main'), done('debug'), done('a')])).toEqual([]);
      expect(withDebugger([runs('main'), failed('debug'), done('a')])).toEqual([]);
    });
  });
});
