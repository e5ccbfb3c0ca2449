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
    'does what its diagram shows',
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
    'keeps a container that is ready already in step with its pod, so that a new agent does not ask all at once',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'readiness', result: 'success', phase: 3 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    'waits only what is left of the initial delay when the container has been running for a while',
    marbles(({ expectObservable }) => {
      const probe = every(5, { initialDelaySeconds: 0.01 });
      const tick$ = probeTicks(clock({ kind: 'readiness', probe, startedAt: -7 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    '#50: waits the delay once and goes on when the wall clock was set back after the start',
    marbles(({ expectObservable }) => {
      const probe = every(5, { initialDelaySeconds: 0.003 });
      const tick$ = probeTicks(clock({ kind: 'readiness', probe, startedAt: 3_600_000 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('---r----r--');
    }),
  );

  it(
    'finds the step also when the wall clock stands before the moment that it is counted from',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'liveness', phase: 3_600_002 }));
      expectObservable(tick$.pipe(letter), '^----------!').toBe('--r----r---');
    }),
  );

  it(
    'does not ask early when a regular tick falls on the same moment',
    marbles(({ expectObservable }) => {
      const tick$ = probeTicks(clock({ kind: 'startup', phase: -5 }));
      expectObservable(tick$.pipe(letter), '^------!').toBe('r----r--');
    }),
  );
});
