import { delay, map, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { NO_MEMORY, type PodMemory } from '../../../../src/model/pod-memory.ts';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { podWorkers } from '../../../../src/streams/workers/pod-workers.ts';
import type { PodReport, PodWork } from '../../../../src/streams/workers/pod-work.ts';
import { marbles } from '../../harness.ts';

const uid = 'u' as PodUid;
const of$ = { uid, name: 'p', namespace: 'default' };
const pod = { metadata: { uid } } as unknown as Pod;

const probes = new Map();
const a: PodWork = { kind: 'sync', uid, pod, probes, why: 'a' };
const b: PodWork = { kind: 'sync', uid, pod, probes, why: 'b' };
const c: PodWork = { kind: 'sync', uid, pod, probes, why: 'c' };
const t: PodWork = { kind: 'terminate', uid, of: of$, grace: 30, why: 't' };
const k: PodWork = { kind: 'terminate', uid, of: of$, grace: 2, why: 'k' };
const l: PodWork = { kind: 'terminate', uid, of: of$, grace: 60, why: 'l' };
const x: PodWork = { kind: 'sync', uid: 'x' as PodUid, pod, probes, why: 'x' };
const values = { a, b, c, t, k, l, x };

function ended(work: PodWork, memory: PodMemory = NO_MEMORY): PodReport {
  return { kind: 'outcome', uid: work.uid, outcome: { kind: 'cleanedUp', uid: work.uid, work }, memory };
}

/** Every work takes six frames. */
function perform(work: PodWork): Observable<PodReport> {
  return of(ended(work)).pipe(delay(6));
}

const whichWork = map((report: PodReport) => (report.kind === 'outcome' ? report.outcome.work : undefined));

describe('podWorkers', () => {
  it(
    'cancels weaker work and keeps the strongest intent (the diagram of its doc comment)',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  abc--t--k---------', values);
      const expected = '   --------------k---';
      expectObservable(podWorkers(work$, { perform }).pipe(whichWork)).toBe(expected, values);
    }),
  );

  it(
    'runs one work of a pod at a time and folds what waits',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  abc---------------', values);
      const expected = '   ------a-----c-----';
      expectObservable(podWorkers(work$, { perform }).pipe(whichWork)).toBe(expected, values);
    }),
  );

  it(
    'runs pods side by side',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  a-x---------------', values);
      const expected = '   ------a-x---------';
      expectObservable(podWorkers(work$, { perform }).pipe(whichWork)).toBe(expected, values);
    }),
  );

  it(
    'never loses a kill to syncs that come after it',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  a--tbc------------', values);
      const expected = '   ---------t-----c--';
      expectObservable(podWorkers(work$, { perform }).pipe(whichWork)).toBe(expected, values);
    }),
  );

  it(
    'never lets a grace period grow',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  k-l---------------', values);
      //                   ------k
      const expected = '   ------k-----l-----';
      expectObservable(podWorkers(work$, { perform }).pipe(whichWork)).toBe(expected, values);
    }),
  );

  it(
    'hands the memory of one work to the next of the pod, and forgets it with the pod',
    marbles(({ hot, expectObservable, flush }) => {
      const work$ = hot('  a------b------c---', values);
      const seen: number[] = [];
      const remembering = (work: PodWork, memory: PodMemory): Observable<PodReport> => {
        seen.push(memory.failures);
        const report: PodReport =
          work === b
            ? ended(work)
            : {
                kind: 'outcome',
                uid,
                outcome: { kind: 'failed', uid, work, error: 'no', next: 0 },
                memory: { ...memory, failures: memory.failures + 1 },
              };
        return of(report).pipe(delay(1));
      };

      expectObservable(podWorkers(work$, { perform: remembering }).pipe(whichWork)).toBe(' -a------b------c--', values);
      flush();
      expect(seen).toEqual([0, 1, 0]);
    }),
  );

  it(
    'turns a defect in one pod into an outcome of that pod',
    marbles(({ hot, expectObservable }) => {
      const work$ = hot('  ax----------------', values);
      const failing = (work: PodWork): Observable<PodReport> =>
        work === a ? throwError(() => new Error('defect')) : perform(work);
      const expected = '   a------x----------';
      expectObservable(podWorkers(work$, { perform: failing }).pipe(whichWork)).toBe(expected, values);
    }),
  );
});
