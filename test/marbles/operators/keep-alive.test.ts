import { defer, EMPTY, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { keepAlive, type Failure } from '../../../src/operators/keep-alive.ts';
import { marbles } from '../harness.ts';

describe('keepAlive', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable }) => {
      const source = cold('-a-#');
      const expected = '   -a-f--a-f--a-f--a-f';
      expectObservable(
        source.pipe(keepAlive({ floor: 2, ceiling: 9, report: () => 'f' })),
        '^------------------!',
      ).toBe(expected);
    }),
  );

  it(
    'leaves a source that does not fail as it is',
    marbles(({ cold, expectObservable }) => {
      const policy = { floor: 1, ceiling: 9 };
      expectObservable(cold('-').pipe(keepAlive(policy))).toBe('-');
      expectObservable(cold('--|').pipe(keepAlive(policy))).toBe('--|');
      expectObservable(cold('-a-b-|').pipe(keepAlive(policy))).toBe('-a-b-|');
    }),
  );

  it(
    'waits twice as long after each failure in a row, up to the ceiling',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('#');
      expectObservable(source.pipe(keepAlive({ floor: 1, ceiling: 5 })), '^ 19ms !').toBe('-');
      expectSubscriptions(source.subscriptions).toBe([
        '(^!)',
        '-(^!)',
        '---(^!)',
        '-------(^!)',
        '------------(^!)',
        '-----------------(^!)',
      ]);
    }),
  );

  it(
    'starts over with the shortest wait once the source has spoken',
    marbles(({ cold, expectObservable }) => {
      const attempts = [cold('#'), cold('#'), cold('a#'), cold('-b|')];
      const source = defer(() => attempts.shift() ?? EMPTY);
      const report = ({ retryIn }: Failure) => String(retryIn);
      expectObservable(source.pipe(keepAlive({ floor: 1, ceiling: 9, report }))).toBe('12-a1-b|');
    }),
  );

  it(
    'tells the error, how often it failed in a row and how long it waits',
    marbles(({ cold, expectObservable }) => {
      const error = new Error('down');
      const report = (failure: Failure) => failure;
      expectObservable(cold<never>('#', {}, error).pipe(keepAlive({ floor: 2, ceiling: 3, report })), '^--!').toBe(
        'f-g',
        {
          f: { error, attempt: 1, retryIn: 2 },
          g: { error, attempt: 2, retryIn: 3 },
        },
      );
    }),
  );

  it(
    'lets go of the source and of the wait when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--#');
      expectObservable(source.pipe(keepAlive({ floor: 3, ceiling: 3 })), '^-----!').toBe('-');
      expectSubscriptions(source.subscriptions).toBe(['^-!', '-----^!']);
    }),
  );

  it('does not grow deeper with every failure', () => {
    marbles(({ expectObservable, flush }) => {
      let tries = 0;
      const source$ = defer(() => {
        tries += 1;
        return throwError(() => new Error('down'));
      });
      expectObservable(source$.pipe(keepAlive({ floor: 1, ceiling: 1 })), '^ 50s !');
      flush();
      expect(tries).toBeGreaterThan(49_000);
    })();
  });
});
