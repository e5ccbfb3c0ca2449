import { map } from 'rxjs';
import { describe, it } from 'vitest';
import { probeTicks, type ProbeClock, type ProbeTick } from '../../../../src/streams/probes/probe-ticks.ts';
import { marbles } from '../../harness.ts';
import { every } from './answers.ts';

/** Of a container that starts as the test does, at 0. */
function clock(more: Partial<ProbeClock> & Pick<ProbeClock, 'kind'>): ProbeClock {
  return { probe: every(5), phase: 0, startedAt: 0, result: more.kind === 'liveness' ? 'success' : 'failure', ...more };
}

const letter = map((tick: ProbeTick) => tick.charAt(0));

describe('probeTicks', () => {
  it(
    'a probe is asked every period once its initial delay is over (the diagram of its doc comment)',
    marbles(({ expectObservable }) => {
      const probe = every(5, { initialDelaySeconds: 0.01 });
      const shared = { probe, phase: 11 };
      const unsub = '          ^---------------------------!';
      expectObservable(probeTicks(clock({ kind: 'liveness', ...shared })).pipe(letter), unsub).toBe(
        '                       -----------r----r----r----r--',
      );
      expectObservable(probeTicks(clock({ kind: 'startup', ...shared })).pipe(letter), unsub).toBe(
        '                       ----------er----r----r----r--',
      );
      expectObservable(probeTicks(clock({ kind: 'readiness', ...shared })).pipe(letter), unsub).toBe(
        '                       ----------r----r----r----r---',
      );
    }),
  );

  it(
    'readiness that holds already is asked in step with the pod, so that a new agent does not ask all at once',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'readiness', result: 'success', phase: 3 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    'initialDelaySeconds count from the start of the container',
    marbles(({ expectObservable }) => {
      const probe = every(5, { initialDelaySeconds: 0.01 });
      const tick$ = probeTicks(clock({ kind: 'readiness', probe, startedAt: -7 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    '#50: the initial delay is waited once though the wall clock was set back after the start',
    marbles(({ expectObservable }) => {
      const probe = every(5, { initialDelaySeconds: 0.003 });
      const tick$ = probeTicks(clock({ kind: 'readiness', probe, startedAt: 3_600_000 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    'probes keep their step though the wall clock stands before the moment that it is counted from',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'liveness', phase: 3_600_002 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('--r----r---');
    }),
  );

  it(
    'no early question is put where a regular one falls on the same moment',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'startup', phase: -5 }));
      expectObservable(tick$.pipe(letter), '^------!').toBe('r----r--');
    }),
  );
});
