import { map, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import type { ProbeAnswer, ProbeKind } from '../../../../src/streams/probes/probe.ts';
import { runProbe, type ProbeOutcome, type ProbeRun } from '../../../../src/streams/probes/run-probe.ts';
import { INITIAL_RESULTS } from '../../../../src/streams/probes/tally.ts';
import { marbles } from '../../harness.ts';
import { answering, bad, every, good } from './answers.ts';

/** A probe of a container that has just started, its first tick at 0. */
function run(kind: ProbeKind, more: Partial<ProbeRun> = {}): ProbeRun {
  const target = () => ({
    uid: 'u' as PodUid,
    pod: {} as Pod,
    container: { name: 'c' },
    containerId: 'i',
    kind,
    podIp: undefined,
  });
  return { kind, probe: every(4), phase: 0, startedAt: 0, result: INITIAL_RESULTS[kind], target, ...more };
}

const brief = map(({ result, note }: ProbeOutcome) => (note ? `${result}, ${note.reason}: ${note.message}` : result));

const failing = (kind: string, result: string): string => `${result}, Unhealthy: ${kind} probe failed: no`;

describe('runProbe', () => {
  it(
    'failures in a row are counted, ticks are skipped while an answer is awaited, and a liveness failure is the last (the diagram of its doc comment)',
    marbles(({ cold, expectObservable }) => {
      const answers: Observable<ProbeAnswer>[] = [
        cold('(f|)', { f: bad }),
        cold('-------(f|)', { f: bad }),
        cold('(f|)', { f: bad }),
      ];
      const expected = '     f----------f(F|)';
      const outcome$ = runProbe(run('liveness'), () => answers.shift() ?? NEVER);
      expectObservable(outcome$.pipe(brief)).toBe(expected, {
        f: failing('Liveness', 'success'),
        F: failing('Liveness', 'failure'),
      });
    }),
  );

  it(
    'an answer ends its question, though its stream goes on, as over https and grpc',
    marbles(({ cold, expectObservable }) => {
      const probe = every(4, { failureThreshold: 3 });
      const expected = 'f---f---(F|)';
      const outcome$ = runProbe(run('liveness', { probe }), () => cold('f-', { f: bad }));
      expectObservable(outcome$.pipe(brief), '^ 30ms !').toBe(expected, {
        f: failing('Liveness', 'success'),
        F: failing('Liveness', 'failure'),
      });
    }),
  );

  it(
    'failures are counted anew after a success',
    marbles(({ expectObservable }) => {
      const probe = every(4, { failureThreshold: 2 });
      const outcome$ = runProbe(run('liveness', { probe }), answering({ liveness: [bad, good, bad, bad] }));
      expectObservable(outcome$.pipe(brief)).toBe('f-------f---(F|)', {
        f: failing('Liveness', 'success'),
        F: failing('Liveness', 'failure'),
      });
    }),
  );

  it(
    'a container is ready after successThreshold successes in a row, and unready after failureThreshold failures',
    marbles(({ expectObservable }) => {
      const probe = every(4, { successThreshold: 2, failureThreshold: 2 });
      const readiness = [good, bad, good, good, bad, good, bad, bad, good, good];
      const outcome$ = runProbe(run('readiness', { probe }), answering({ readiness }));
      expectObservable(outcome$.pipe(brief), '^-------------------------------------!').toBe(
        '    ----n-------r---f-------f---n-------r-',
        {
          n: failing('Readiness', 'failure'),
          f: failing('Readiness', 'success'),
          r: 'success',
        },
      );
    }),
  );

  it(
    'a startup probe asks no more once it has succeeded, or failed for good',
    marbles(({ expectObservable }) => {
      const probe = every(4, { failureThreshold: 2 });
      const succeeds$ = runProbe(run('startup', { probe }), answering({ startup: [bad, good] }));
      expectObservable(succeeds$.pipe(brief)).toBe('f---(s|)', { f: failing('Startup', 'unknown'), s: 'success' });
      const fails$ = runProbe(run('startup', { probe }), answering({ startup: [bad] }));
      expectObservable(fails$.pipe(brief)).toBe('f---(F|)', {
        f: failing('Startup', 'unknown'),
        F: failing('Startup', 'failure'),
      });
    }),
  );

  it(
    'an early success of a starting container counts, an early failure does not',
    marbles(({ expectObservable }) => {
      const probe = every(4, { failureThreshold: 1 });
      const quick$ = runProbe(run('startup', { probe, phase: 3 }), answering({ startup: [good] }));
      expectObservable(quick$.pipe(brief)).toBe('(s|)', { s: 'success' });
      const slow$ = runProbe(run('startup', { probe, phase: 3 }), answering({ startup: [bad, good] }));
      expectObservable(slow$.pipe(brief)).toBe('---(s|)', { s: 'success' });
    }),
  );

  it(
    'nothing is asked where the result that it begins with is the last',
    marbles(({ expectObservable }) => {
      expectObservable(runProbe(run('startup', { result: 'success' }), () => of(bad))).toBe('|');
      expectObservable(runProbe(run('liveness', { result: 'failure' }), () => of(good))).toBe('|');
    }),
  );

  it(
    'a warning counts as success, and ProbeWarning tells it',
    marbles(({ expectObservable }) => {
      const warning: ProbeAnswer = { result: 'warning', output: 'elsewhere' };
      const outcome$ = runProbe(run('readiness'), answering({ readiness: [warning] }));
      expectObservable(outcome$.pipe(brief), '^----!').toBe('w---w', {
        w: 'success, ProbeWarning: Readiness probe warning: elsewhere',
      });
    }),
  );

  it(
    'a question that cannot be put is put three times, then Unhealthy tells that it errored, and the result stays',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const broken$ = cold<ProbeAnswer>('-#', {}, new Error('broken'));
      const outcome$ = runProbe(run('liveness', { probe: every(9, { failureThreshold: 1 }) }), () => broken$);
      expectObservable(outcome$.pipe(brief), '^-------!').toBe('---e', {
        e: 'success, Unhealthy: Liveness probe errored and resulted in unknown state: broken',
      });
      expectSubscriptions(broken$.subscriptions).toBe(['^!', '-^!', '--^!']);
    }),
  );

  it(
    'an error does not break a row of failures',
    marbles(({ expectObservable }) => {
      const answers = [of(bad), ...Array.from({ length: 3 }, () => throwError(() => new Error('broken'))), of(bad)];
      const probe = every(4, { failureThreshold: 2 });
      const outcome$ = runProbe(run('liveness', { probe }), () => answers.shift() ?? NEVER);
      expectObservable(outcome$.pipe(brief)).toBe('f---e---(F|)', {
        f: failing('Liveness', 'success'),
        e: 'success, Unhealthy: Liveness probe errored and resulted in unknown state: broken',
        F: failing('Liveness', 'failure'),
      });
    }),
  );

  it(
    'nothing is told while all is well',
    marbles(({ expectObservable }) => {
      expectObservable(
        runProbe(run('liveness'), () => of(good)),
        '^ 10s !',
      ).toBe('-');
    }),
  );

  it(
    'the question in flight is cancelled when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ProbeAnswer>('-');
      expectObservable(
        runProbe(run('liveness'), () => answer$),
        '^-----!',
      ).toBe('-');
      expectSubscriptions(answer$.subscriptions).toBe('^-----!');
    }),
  );
});
