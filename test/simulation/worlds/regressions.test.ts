import { describe, expect, it } from 'vitest';
import { violations } from './invariants.ts';
import type { WorldRecord } from './journal.ts';
import { liveWorld } from './live-world.ts';
import { worldOf } from './world-of.ts';
import type { PodPlan, ProcessPlan, StepPlan, WorldPlan } from './world-plan.ts';

const RUNS: ProcessPlan = { times: 0, after: 1_000, code: 1, last: 'runs', onTerm: 10, liveness: false };

function pod(policy: 'OnFailure' | 'Never', fixedUid: boolean, many = 1): PodPlan {
  const version = {
    policy,
    grace: 3,
    init: false,
    volume: false,
    containers: Array.from({ length: many }, () => RUNS),
  };
  return { fixedUid, versions: [version, version] };
}

function world(seed: number, one: PodPlan, ...steps: readonly StepPlan[]): WorldPlan {
  return { seed, events: true, pods: [one], steps, rates: {} };
}

/** What random worlds have found in the agent, cut down. */
describe('worlds that were lost once', () => {
  it('a Never pod whose container was made and never started runs after a reboot', () => {
    for (let at = 240; at < 480; at += 12) {
      expect(violations(liveWorld(world(999_998, pod('Never', false), { after: at, do: 'reboot' })))).toEqual([]);
    }
  });

  it('a Never pod that the runtime forgot is not started to be ended right away', () => {
    const forgotten = world(
      123_868,
      pod('Never', true, 2),
      { after: 29_633, do: 'forgetSandboxes' },
      { after: 2_956, do: 'kill', which: 4 },
    );
    expect(violations(liveWorld(forgotten))).toEqual([]);
  });

  it('an edited OnFailure pod that ends well while the new image is fetched has not succeeded', () => {
    const edited = world(5, pod('OnFailure', true), { after: 20_000, do: 'want', pod: 0, version: 1 });
    const record = liveWorld(edited);
    expect(violations(record)).toEqual([]);
    expect(record.entries.some((entry) => entry.kind === 'phase' && entry.phase === 'finished')).toBe(false);
  });

  it('a Never pod that has failed stays so when the runtime has forgotten it and another agent starts', () => {
    const failed = world(
      77,
      pod('Never', false),
      { after: 4_000, do: 'crash', for: 591 },
      { after: 0, do: 'reboot' },
      { after: 1_000, do: 'forgetSandboxes' },
      { after: 8_000, do: 'crash', for: 0 },
    );
    const record = liveWorld(failed);
    expect(violations(record)).toEqual([]);
    expect(startsIn(record)).toBe(1);
  });

  it.each([1_004_074, 1_004_559])('images go in time though the clock was set back: seed %i', (seed) => {
    expect(violations(liveWorld(worldOf(seed)))).toEqual([]);
  });

  it('a Never pod of which only sidecars ran begins anew when its sandbox is gone', () => {
    const one = pod('Never', false);
    const versions = one.versions.map((version) => ({ ...version, sidecars: [RUNS, { ...RUNS, startup: 6_839 }] }));
    const record = liveWorld(world(3, { ...one, versions }, { after: 3_320, do: 'killSandbox', which: 5 }));
    expect(violations(record)).toEqual([]);
    expect(startsIn(record)).toBe(5);
  });

  it('a Never pod whose sandbox goes while its init container runs begins anew, and is never started behind its end', () => {
    const one = pod('Never', true);
    const versions = one.versions.map((version) => ({ ...version, init: true }));
    const lost = world(
      7,
      { ...one, versions },
      { after: 420, do: 'killSandbox', which: 0 },
      { after: 400, do: 'forgetSandboxes' },
      { after: 3_800, do: 'crash', for: 428 },
    );
    expect(violations(liveWorld(lost))).toEqual([]);
  });

  it('a pod whose manifest goes while a slow disk keeps in mind what is stopped does not start any more', () => {
    const slow = {
      ...world(138_683, pod('OnFailure', false)),
      pods: [pod('OnFailure', false), pod('OnFailure', true)],
    };
    for (let late = 0; late < 400; late += 80) {
      const steps: readonly StepPlan[] = [
        { after: 1_500, do: 'command', verb: 'stop', pod: 1 },
        { after: 1_000, do: 'want', pod: 0, version: 1 },
        { after: late, do: 'command', verb: 'start', pod: 1 },
        { after: 40, do: 'drop', pod: 0 },
      ];
      const record = liveWorld({ ...slow, steps, rates: { slow: 0.1, late: 0.3, linger: 0.3 } });
      expect(violations(record)).toEqual([]);
    }
  });

  it('an evicted pod whose edit is taken back while it is cleaned up begins anew, and the edited one goes', () => {
    const one = pod('OnFailure', false);
    const versions = one.versions.map((version) => ({ ...version, volume: true, limited: 'volume' as const }));
    // From its eviction to the end of its clean-up.
    for (let at = 2_000; at < 2_300; at += 40) {
      const edited = world(
        6,
        { ...one, versions },
        { after: 5_000, do: 'fill', pod: 0 },
        { after: at, do: 'want', pod: 0, version: 1 },
        { after: 30, do: 'want', pod: 0, version: 0 },
      );
      expect(violations(liveWorld(edited))).toEqual([]);
    }
  });
});

describe('worlds whose calls are answered at once', () => {
  it('a clean-up that fails at once is tried again', () => {
    const one = pod('Never', false);
    const versions = one.versions.map((version) => ({ ...version, containers: [{ ...RUNS, onTerm: 900 as const }] }));
    const lost = world(
      418_236,
      { ...one, versions },
      { after: 2_453, do: 'readOnlyDisk', for: 10_000 },
      { after: 3_377, do: 'drop', pod: 0 },
    );
    expect(violations(liveWorld({ ...lost, answers: 'timeless' }))).toEqual([]);
  });
});

/** What a check has held against the agent wrongly, cut down. */
describe('worlds that were judged wrongly once', () => {
  it('that a pod has failed may be forgotten when the disk was full and an agent started before the next try', () => {
    const unwritten = world(
      927_344,
      pod('Never', false),
      { after: 3_999, do: 'crash', for: 591 },
      { after: 0, do: 'reboot' },
      // It starts a third agent at 8 s, long after its own step.
      { after: 18, do: 'crash', for: 3_992 },
      { after: 560, do: 'fullDisk', for: 1_000 },
      { after: 1_100, do: 'forgetSandboxes' },
    );
    const record = liveWorld(unwritten);
    expect(violations(record)).toEqual([]);
    expect(startsIn(record)).toBe(2);
  });

  it('sidecars of a Never pod end when its init container is killed for want of memory', () => {
    const one = pod('Never', false);
    const versions = one.versions.map((version) => ({ ...version, init: true, sidecars: [RUNS] }));
    for (let at = 700; at < 1_300; at += 100) {
      const short = world(7, { ...one, versions }, { after: at, do: 'fillMemory', for: 100 });
      expect(violations(liveWorld(short))).toEqual([]);
    }
  });

  it('a sync goes on by the manifest that it began with when an edit is taken back meanwhile', () => {
    for (let back = 100; back < 1_900; back += 100) {
      const edited = world(
        3,
        pod('OnFailure', true, 2),
        { after: 10_000, do: 'want', pod: 0, version: 1 },
        { after: back, do: 'want', pod: 0, version: 0 },
      );
      expect(violations(liveWorld(edited))).toEqual([]);
    }
  });
});

function startsIn({ entries }: WorldRecord): number {
  return entries.filter(
    (entry) => entry.kind === 'happening' && entry.happening.kind === 'started' && entry.happening.container,
  ).length;
}
