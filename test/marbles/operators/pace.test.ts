import { asyncScheduler, defer, EMPTY } from 'rxjs';
import { describe, it } from 'vitest';
import { pace } from '../../../src/operators/pace.ts';
import { marbles } from '../harness.ts';

describe('pace', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable }) => {
      const inTime = { of: pace({ perSecond: 1, burst: 2 }) };
      expectObservable(inTime.of(cold('(a|)'))).toBe('(a|)');
      expectObservable(inTime.of(cold('(b|)'))).toBe('(b|)');
      expectObservable(inTime.of(cold('(c|)'))).toBe('1s (c|)');
      expectObservable(inTime.of(cold('(d|)'))).toBe('2s (d|)');
    }),
  );

  it(
    'gives the burst back after a quiet time, and no more than that',
    marbles(({ cold, expectObservable }) => {
      const inTime = { of: pace({ perSecond: 1, burst: 2 }) };
      for (const expected of ['(a|)', '(a|)']) expectObservable(inTime.of(cold('(a|)'))).toBe(expected);
      for (const expected of ['10s (a|)', '10s (a|)', '11s (a|)'])
        expectObservable(inTime.of(cold('(a|)')), '10s ^').toBe(expected);
    }),
  );

  it(
    'goes on in its pace when the clock is set back by an hour',
    marbles(({ cold, expectObservable }) => {
      const inTime = { of: pace({ perSecond: 1, burst: 1 }) };
      const { now } = asyncScheduler;
      const setBack$ = defer(() => {
        asyncScheduler.now = () => now() - 3_600_000;
        return EMPTY;
      });
      expectObservable(inTime.of(cold('(a|)'))).toBe('(a|)');
      expectObservable(setBack$, '10ms ^').toBe('10ms |');
      expectObservable(inTime.of(cold('(b|)')), '20ms ^').toBe('1020ms (b|)');
      expectObservable(
        defer(() => {
          asyncScheduler.now = now;
          return EMPTY;
        }),
        '2s ^',
      ).toBe('2s |');
    }),
  );

  it(
    'holds nobody up where there is no limit',
    marbles(({ cold, expectObservable }) => {
      const inTime = { of: pace({ perSecond: 0, burst: 1 }) };
      for (const name of ['a', 'b', 'c']) expectObservable(inTime.of(cold(`(${name}|)`))).toBe(`(${name}|)`);
    }),
  );
});
