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
      ['starts the first one first', two, [], ['start a by logs']],
      ['waits for one that runs', two, [runs('a')], []],
      ['starts one again that was made and never started', two, [runs('a', { state: 'created' })], ['start made a-0']],
      ['starts the next when one has done its work', two, [done('a')], ['start b by logs']],
      ['starts the regular containers after the last one', two, [done('b'), done('a')], ['start main by logs']],
      ['does not look back: the last one that is known counts', two, [done('b')], ['start main by logs']],
      ['waits for the last one, whatever became of those before it', two, [runs('b'), failed('a')], []],
      ['does not start the regular containers beside the last one', two, [runs('b'), done('a')], []],
      [
        'kills and restarts one whose state nobody knows',
        two,
        [runs('a', { state: 'unknown' })],
        ['stop a-0', 'start a 1'],
      ],
      [
        'makes one anew that was made by another definition',
        two,
        [runs('a', { state: 'created', annotations: OTHER_HASH })],
        ['start a 1'],
      ],
      ['lets one that runs finish, however it is defined now', two, [runs('a', { annotations: OTHER_HASH })], []],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(planWithin(of, seen))).toEqual(expected);
    });
  });

  describe('restarts one that failed, or gives the pod up', () => {
    it.each<[string, Pod, readonly ObservedContainer[], readonly string[]]>([
      ['restarts it under Always', two, [failed('a')], ['start a 1']],
      ['restarts it under OnFailure', onFailure, [failed('a')], ['start a 1']],
      ['ends the pod under Never', never, [failed('a')], ['stop the pod']],
      ['ends the pod when a later one failed under Never', never, [failed('b'), done('a')], ['stop the pod']],
      ['goes on under Never when it succeeded', never, [done('a')], ['start b by logs']],
      ['counts one that ran out of memory as failed, whatever its exit code', two, [oomKilled('a')], ['start a 1']],
      ['ends a Never pod for it', never, [oomKilled('a')], ['stop the pod']],
      [
        'follows its own policy before that of the pod',
        podOf([wanted('a', { restartPolicy: 'Never' })]),
        [failed('a')],
        ['stop the pod'],
      ],
      [
        'restarts it by its own OnFailure in a Never pod',
        podOf([wanted('a', { restartPolicy: 'OnFailure' })], { restartPolicy: 'Never' }),
        [failed('a')],
        ['start a 1'],
      ],
    ])('%s', (_rule, of, seen, expected) => {
      expect(steps(planWithin(of, seen))).toEqual(expected);
    });

    it('lets it wait like any other container that crashes again and again', () => {
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
      ['starts one in its turn', around, [done('a')], ['start s by logs']],
      ['starts what follows as soon as it runs', around, [runs('s'), done('a')], ['start b by logs']],
      [
        'starts the regular containers when the last init container is one',
        podOf([sidecar('s')]),
        [runs('s')],
        ['start main by logs'],
      ],
      [
        'starts one again that was made and never started',
        around,
        [runs('s', { state: 'created' }), done('a')],
        ['start made s-0'],
      ],
      [
        'restarts one that ended while a later init container runs',
        around,
        [runs('b'), failed('s'), done('a')],
        ['start s 1'],
      ],
      [
        'restarts one that ended while the pod runs',
        around,
        [runs('main'), done('b'), failed('s'), done('a')],
        ['start s 1'],
      ],
      ['restarts one that succeeded, too', around, [runs('main'), done('b'), done('s'), done('a')], ['start s 1']],
      ['waits for its restart before it goes on', podOf([sidecar('s')]), [failed('s')], ['start s 1']],
      [
        'restarts one in a Never pod',
        podOf([sidecar('s')], { restartPolicy: 'Never' }),
        [runs('main'), failed('s')],
        ['start s 1'],
      ],
      [
        'starts one that is missing while the pod runs',
        around,
        [runs('main'), done('b'), done('a')],
        ['start s by logs'],
      ],
      [
        'starts several that are missing in the order of the pod',
        podOf([sidecar('s'), sidecar('t'), sidecar('u')]),
        [runs('main'), runs('t')],
        ['start s by logs', 'start u by logs'],
      ],
      [
        'replaces one whose image changed (ask 44)',
        around,
        [runs('main'), runs('s', { annotations: OTHER_HASH }), done('b'), done('a')],
        ['stop s-0', 'start s 1'],
      ],
      [
        'kills and restarts one whose state nobody knows',
        around,
        [runs('main'), runs('s', { state: 'unknown' }), done('b'), done('a')],
        ['stop s-0', 'start s 1'],
      ],
      [
        'ends them with the pod when nothing else is left',
        podOf([sidecar('s'), sidecar('t')], { restartPolicy: 'Never' }),
        [done('main'), runs('t'), runs('s')],
        ['stop the pod'],
      ],
      [
        'does not restart one that ended when nothing else is left',
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
      ['without a result', gated, [runs('s')], [], []],
      ['while it has not succeeded', gated, [runs('s')], [['s', notYet]], []],
      ['and goes on when it has', gated, [runs('s')], [['s', found('s-0')]], ['start b by logs']],
      [
        'and takes no result of an earlier instance for it',
        gated,
        [runs('s', { attempt: 1 })],
        [['s', found('s-0')]],
        [],
      ],
      [
        'and restarts it when it has failed',
        gated,
        [runs('s')],
        [['s', found('s-0', { startup: 'failure', started: false })]],
        ['stop s-0', 'start s 1'],
      ],
      ['but no longer once the pod has begun', gated, [runs('main'), runs('s'), done('b')], [], []],
      [
        'and lets a crashed regular container restart without a result (ask 43)',
        gated,
        [failed('main'), runs('s'), done('b')],
        [],
        ['start main 1'],
      ],
      [
        'and restarts it when its liveness probe fails',
        probed,
        [runs('main'), runs('s')],
        [['s', found('s-0', { liveness: 'failure' })]],
        ['stop s-0', 'start s 1'],
      ],
    ])('%s', (_rule, of, seen, probes, expected) => {
      expect(steps(planWithin(of, seen, { probes }))).toEqual(expected);
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
      ['while the regular container runs', [runs('main')], []],
      ['while it waits to be started', [runs('main', { state: 'created' })], ['start made main-0']],
      ['after it has crashed', [failed('main')], ['start main 1']],
    ])('though all traces of them are gone %s (ask 41)', (_when, seen, expected) => {
      expect(steps(planWithin(two, seen))).toEqual(expected);
    });

    it('but runs them anew in a new sandbox, and does not take their former end for it', () => {
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

    it('removes every instance of them once, however many there are', () => {
      const old = (attempt: number): ObservedContainer => exited(attempt === 2 ? 0 : 1, 0, { name: 'a', attempt });
      const seen = { sandboxes: [endedSandbox()], containers: [old(2), old(1), old(0)] };
      expect(steps(planFor(podOf([wanted('a')]), seen)).filter((step) => step.startsWith('remove a'))).toEqual([
        'remove a-2 but its log',
        'remove a-1 but its log',
        'remove a-0 but its log',
      ]);
    });
  });

  describe('starts ephemeral containers once', () => {
    const withDebugger = (regular: readonly ObservedContainer[]): readonly string[] => {
      const of = podOf([wanted('a')], {
        ephemeralContainers: [wanted('debug')],
      });
      return steps(planWithin(of, regular));
    };
    it('beside init containers, and before them', () => {
      expect(withDebugger([])).toEqual(['start debug by logs', 'start a by logs']);
      expect(withDebugger([runs('a')])).toEqual(['start debug by logs']);
    });
    it('and never again', () => {
      expect(withDebugger([runs('main'), done('debug'), done('a')])).toEqual([]);
      expect(withDebugger([runs('main'), failed('debug'), done('a')])).toEqual([]);
    });
  });
});
