import { NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../../src/model/desired.ts';
import type { PodSights } from '../../../src/model/workloads/pod-sight.ts';
import { NO_WORKLOADS, type WorkloadMemory } from '../../../src/model/workloads/expand-workloads.ts';
import { podOfWorkload } from '../../../src/model/workloads/pod-of-workload.ts';
import { expandDesired, type WorkloadStore } from '../../../src/sources/expand-desired.ts';
import { aWorkload, ended } from '../../unit/model/workloads/a-workload.ts';
import { marbles } from '../harness.ts';

const job = aWorkload('Job', { spec: 'completions: 2' });
const [first, second] = [podOfWorkload(job, 'web-0'), podOfWorkload(job, 'web-1')];
const withJob: Desired = { source: 'file', pods: [], objects: [job], problems: [] };
const without: Desired = { source: 'file', pods: [], problems: [] };
const wants = (...pods: Desired['pods']): Desired => ({ ...withJob, pods });

function store(kept?: WorkloadMemory): WorkloadStore & { readonly saved: WorkloadMemory[] } {
  const saved: WorkloadMemory[] = [];
  return {
    saved,
    load: () => of(kept),
    save: (memory) => {
      saved.push(memory);
      return of(undefined);
    },
  };
}

describe('expandDesired', () => {
  const s: PodSights = new Map([ended(first, 'Succeeded', 4)]);
  const t: PodSights = new Map([...s, ended(second, 'Succeeded', 12)]);

  it(
    'puts pods in the place of workloads (the diagram of its doc comment)',
    marbles(({ hot, expectObservable }) => {
      const desired$ = hot<Desired>('  d---------------e---', { d: withJob, e: without });
      const sights$ = hot<PodSights>(' ----s-------t-------', { s, t });
      expectObservable(expandDesired(desired$, sights$, store())).toBe('p---q-----------r---', {
        p: wants(first),
        q: wants(first, second),
        r: without,
      });
    }),
  );

  it(
    'forgets nothing of workloads because of a source that is unheard',
    marbles(({ hot, expectObservable }) => {
      const unheard: Desired = { source: 'http', unheard: true, pods: [], problems: [] };
      const desired$ = hot<Desired>('u--d', { u: unheard, d: withJob });
      const record = { hash: job.hash, startedAt: 0, succeeded: 2, failed: 0, failuresInRow: 0, nextIndex: 2 };
      const finish = { at: 9, condition: 'Complete' } as const;
      const kept = { ...NO_WORKLOADS, jobs: { 'Job/default/web': { ...record, active: [], ended: [second], finish } } };
      expectObservable(expandDesired(desired$, NEVER, store(kept)), '^---!').toBe('u--d', {
        u: unheard,
        d: wants(second),
      });
    }),
  );

  it(
    'passes on what has no workloads as it is',
    marbles(({ hot, expectObservable }) => {
      const desired$ = hot<Desired>('  --d---|', { d: without });
      expectObservable(expandDesired(desired$, NEVER, store()), '^-----!').toBe('--d----', { d: without });
    }),
  );

  it(
    'goes on where an earlier run was',
    marbles(({ hot, expectObservable }) => {
      const desired$ = hot<Desired>('d---', { d: withJob });
      const record = { hash: job.hash, startedAt: 0, succeeded: 2, failed: 0, failuresInRow: 0, nextIndex: 2 };
      const finish = { at: 9, condition: 'Complete' } as const;
      const kept = { ...NO_WORKLOADS, jobs: { 'Job/default/web': { ...record, active: [], ended: [second], finish } } };
      expectObservable(expandDesired(desired$, NEVER, store(kept))).toBe('p---', { p: wants(second) });
    }),
  );

  it('saves what has come of workloads, and tells where it cannot', () => {
    const kept = store();
    const told: Desired[] = [];
    const observer = {
      next: (desired: Desired) => {
        told.push(desired);
      },
      error: (error: unknown) => {
        throw error;
      },
    };
    expandDesired(of(withJob), NEVER, kept).subscribe(observer);
    expect(kept.saved.at(-1)?.jobs['Job/default/web']?.active).toEqual([first]);
    const broken: WorkloadStore = { load: () => of(undefined), save: () => throwError(() => new Error('disk full')) };
    expandDesired(of(withJob), NEVER, broken).subscribe(observer);
    expect(told.at(-1)?.problems.map(({ message }) => message)).toEqual([
      'what has come of workloads cannot be remembered: disk full',
    ]);
  });
});
