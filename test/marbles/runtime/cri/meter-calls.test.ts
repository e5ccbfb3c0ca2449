import { take, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Cri } from '../../../../src/streams/ports/cri.ts';
import type { Measured } from '../../../../src/streams/ports/meter.ts';
import { meterCalls } from '../../../../src/runtime/cri/meter-calls.ts';
import { marbles } from '../../harness.ts';

/** A runtime of one call, and what is measured of it, without how long it took. */
function metered(answer$: Observable<unknown>): {
  readonly stop$: Observable<undefined>;
  readonly measured: readonly Omit<Measured, 'took'>[];
} {
  const measured: Omit<Measured, 'took'>[] = [];
  const cri = meterCalls({ stopContainer: () => answer$ } as unknown as Cri, ({ took, ...rest }) => {
    expect(took).toBeGreaterThanOrEqual(0);
    measured.push(rest);
  });
  return { stop$: cri.stopContainer({ containerId: 'c' }), measured };
}

const CALL = { kind: 'criCall', operation: 'stop_container', request: { containerId: 'c' } };

describe('meterCalls', () => {
  it(
    'measures a call that is answered, once, and changes nothing of it',
    marbles(({ cold, expectObservable, flush }) => {
      const { stop$, measured } = metered(cold('--a|'));
      expectObservable(stop$).toBe('            --a|');
      flush();
      expect(measured).toEqual([{ ...CALL, outcome: 'done', answer: 'a' }]);
    }),
  );

  it(
    'counts a call as done whose caller leaves with the answer',
    marbles(({ cold, expectObservable, flush }) => {
      const { stop$, measured } = metered(cold('     --a|'));
      expectObservable(stop$.pipe(take(1))).toBe('--(a|)');
      flush();
      expect(measured).toEqual([{ ...CALL, outcome: 'done', answer: 'a' }]);
    }),
  );

  it(
    'tells the error of a call that fails',
    marbles(({ cold, expectObservable, flush }) => {
      const { stop$, measured } = metered(cold('--#'));
      expectObservable(stop$).toBe('            --#');
      flush();
      expect(measured).toEqual([{ ...CALL, outcome: 'failed', error: 'error' }]);
    }),
  );

  it(
    'tells a call that is cancelled',
    marbles(({ cold, expectObservable, flush }) => {
      const { stop$, measured } = metered(cold('----a|'));
      expectObservable(stop$, '                 --!').toBe('---');
      flush();
      expect(measured).toEqual([{ ...CALL, outcome: 'cut' }]);
    }),
  );
});
