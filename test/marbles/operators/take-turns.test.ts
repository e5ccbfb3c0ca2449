import { describe, expect, it } from 'vitest';
import { takeTurns } from '../../../src/operators/take-turns.ts';
import { marbles } from '../harness.ts';

describe('takeTurns', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inTurn = { of: takeTurns(1) };
      const a = cold('     --a--|');
      const b = cold('          --b--|');
      const aSub = '       ^----!';
      const bSub = '       -----^----!';
      const resultA = '    --a--|';
      const resultB = '    -------b--|';
      expectObservable(inTurn.of(a)).toBe(resultA);
      expectObservable(inTurn.of(b)).toBe(resultB);
      expectSubscriptions(a.subscriptions).toBe(aSub);
      expectSubscriptions(b.subscriptions).toBe(bSub);
    }),
  );

  it(
    'gives the place on when a work has had its time (the second diagram)',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inTurn = { of: takeTurns(1, { atMost: 4 }) };
      const a = cold('     -------a|');
      const b = cold('         -b|');
      expectObservable(inTurn.of(a)).toBe('-------a|');
      expectObservable(inTurn.of(b)).toBe('-----b|');
      expectSubscriptions(a.subscriptions).toBe('^-------!');
      expectSubscriptions(b.subscriptions).toBe('----^-!');
      // What has given its place on gives it once.
      const late = ['---------c|', '-------------c|'];
      for (const [index, expected] of late.entries())
        expectObservable(inTurn.of(cold('---c|')), index === 0 ? '----^' : '------^').toBe(expected);
    }),
  );

  it(
    'lets those go first that are to',
    marbles(({ cold, expectObservable }) => {
      const inTurn = { of: takeTurns(1) };
      expectObservable(inTurn.of(cold('--(a|)'))).toBe('--(a|)');
      expectObservable(inTurn.of(cold('--(b|)'))).toBe('------(b|)');
      expectObservable(inTurn.of(cold('--(c|)'), 'first')).toBe('----(c|)');
    }),
  );

  it(
    'gives the place on when somebody leaves or fails, and forgets who leaves the queue',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inTurn = { of: takeTurns(1) };
      const [a, b, c, d] = [cold('-----'), cold('-----'), cold('--#'), cold('-d|')];
      expectObservable(inTurn.of(a), '^--!').toBe('----');
      expectObservable(inTurn.of(b), '^-!').toBe('---');
      expectObservable(inTurn.of(c)).toBe('-----#');
      expectObservable(inTurn.of(d)).toBe('------d|');
      expectSubscriptions(a.subscriptions).toBe('^--!');
      expectSubscriptions(b.subscriptions).toBe([]);
    }),
  );

  it(
    'lets as many go on as there are places',
    marbles(({ cold, expectObservable }) => {
      const inTurn = { of: takeTurns(2) };
      for (const expected of ['--(a|)', '--(a|)', '----(a|)', '----(a|)'])
        expectObservable(inTurn.of(cold('--(a|)'))).toBe(expected);
    }),
  );

  it('does nothing before somebody listens', () => {
    expect(() => takeTurns(1)).not.toThrow();
  });
});
