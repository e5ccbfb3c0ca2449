import { merge, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { shareLatest } from '../../../src/operators/share-latest.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';

describe('shareLatest', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a---b---c---|');
      const early = '      a---b---c---|';
      const late = '       --a-b---c---|';
      const shared$ = source.pipe(shareLatest());
      expectObservable(shared$).toBe(early);
      expectObservable(shared$, '--^').toBe(late);
      expectSubscriptions(source.subscriptions).toBe('^-----------!');
    }),
  );

  it(
    'has nothing for a late listener before the first value',
    marbles(({ cold, expectObservable }) => {
      const shared$ = cold('----a').pipe(shareLatest());
      expectObservable(shared$).toBe('----a');
      expectObservable(shared$, '--^').toBe('----a');
      expectObservable(cold('-').pipe(shareLatest())).toBe('-');
      expectObservable(cold('-|').pipe(shareLatest())).toBe('-|');
    }),
  );

  it(
    'forgets its value and lets go of the source when the last listener leaves',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a---');
      const shared$ = source.pipe(shareLatest());
      expectObservable(shared$, '^--!').toBe('--a');
      expectObservable(shared$, '-----^').toBe('-------a');
      expectSubscriptions(source.subscriptions).toBe(['^--!', '-----^']);
    }),
  );

  it(
    'tells the last value and the end to whoever comes after the end',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b|');
      const shared$ = source.pipe(shareLatest());
      expectObservable(shared$).toBe('a-b|');
      expectObservable(shared$, '------^').toBe('------(b|)');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }),
  );

  it(
    'tells an error to all, and tries anew for whoever comes after it',
    marbles(({ cold, expectObservable }) => {
      const shared$ = cold('a-#').pipe(shareLatest());
      expectObservable(shared$).toBe('a-#');
      expectObservable(shared$, '-^').toBe('-a#');
      expectObservable(shared$, '----^').toBe('----a-#');
    }),
  );

  it('gives a synchronous source to both of two listeners', () => {
    const seen: string[] = [];
    const state$ = of('one', 'two').pipe(shareLatest());
    merge(state$, state$).subscribe({ next: (value) => seen.push(value), error: unexpected });
    expect(seen).toEqual(['one', 'two', 'two']);
  });

  it('keeps the order of values that a listener causes', () => {
    const source = new Subject<number>();
    const seen: number[] = [];
    const state$ = source.pipe(shareLatest());
    state$.subscribe({
      next: (n) => {
        if (n < 3) source.next(n + 1);
      },
      error: unexpected,
    });
    state$.subscribe({ next: (n) => seen.push(n), error: unexpected });
    source.next(1);
    expect([...seen].sort()).toEqual([1, 2, 3]);
  });
});
