import { defer, merge, NEVER, of, Subject, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { shareByKey } from '../../../src/operators/share-by-key.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';

describe('shareByKey', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = '       ^';
      const second = '      ---^';
      const work = cold('   -------(r|)');
      const ofFirst = '     -------(r|)';
      const ofSecond = '    -------(r|)';
      const ask = shareByKey(() => work);
      expectObservable(ask('a'), first).toBe(ofFirst);
      expectObservable(ask('a'), second).toBe(ofSecond);
      expectSubscriptions(work.subscriptions).toBe('^------!');
    }),
  );

  it(
    'does nothing before anybody listens',
    marbles(({ cold, expectSubscriptions, flush }) => {
      const work = cold('r|');
      void shareByKey(() => work)('a');
      flush();
      expectSubscriptions(work.subscriptions).toBe([]);
    }),
  );

  it(
    'works on the first of several asks that have one key, where it is told what the key is',
    marbles(({ cold, expectObservable }) => {
      const ask = shareByKey(
        ({ answer }: { key: string; answer: string }) => cold('---r|', { r: answer }),
        (one) => one.key,
      );
      expectObservable(ask({ key: 'a', answer: 'first' })).toBe('   ---r|', { r: 'first' });
      expectObservable(ask({ key: 'a', answer: 'second' }), '-^').toBe('---r|', { r: 'first' });
      expectObservable(ask({ key: 'b', answer: 'other' })).toBe('   ---r|', { r: 'other' });
    }),
  );

  it(
    'works for different keys side by side',
    marbles(({ cold, expectObservable }) => {
      const ask = shareByKey((key: string) => cold(key === 'a' ? '--a|' : '---b|'));
      expectObservable(ask('a')).toBe('--a|');
      expectObservable(ask('b')).toBe('---b|');
    }),
  );

  it(
    'tells emptiness, many values and an error to all who wait',
    marbles(({ cold, expectObservable }) => {
      const works: Readonly<Record<string, string>> = { empty: '---|', many: '-a-b-|', error: '--a#', never: '-' };
      const ask = shareByKey((key: string) => cold(works[key] ?? ''));
      expectObservable(ask('empty')).toBe('---|');
      expectObservable(ask('empty'), '-^').toBe('---|');
      expectObservable(ask('many')).toBe('-a-b-|');
      expectObservable(ask('many'), '--^').toBe('---b-|');
      expectObservable(ask('error')).toBe('--a#');
      expectObservable(ask('error'), '-^').toBe('--a#');
      expectObservable(ask('never')).toBe('-');
    }),
  );

  it(
    'goes on while anybody waits, and cancels the work when the last one leaves',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = cold('      ------r|');
      const ask = shareByKey(() => work);
      expectObservable(ask('a'), '^-!').toBe('-');
      expectObservable(ask('a'), '-^--!').toBe('-');
      expectObservable(ask('a'), '-----^').toBe('-----------r|');
      expectSubscriptions(work.subscriptions).toBe(['^---!', '-----^------!']);
    }),
  );

  it(
    'starts anew after the end, and after an error',
    marbles(({ expectObservable }) => {
      let count = 0;
      const ask = shareByKey((key: string): Observable<string> => {
        count += 1;
        return key === 'fails' ? throwError(() => new Error(`failure ${count}`)) : of(String(count));
      });
      expectObservable(ask('a')).toBe('(1|)');
      expectObservable(ask('a'), '--^').toBe('--(2|)');
      expectObservable(ask('fails'), '---^').toBe('---#', {}, new Error('failure 3'));
      expectObservable(ask('fails'), '----^').toBe('----#', {}, new Error('failure 4'));
    }),
  );

  it('shares synchronous work with nobody, since it is over at once', () => {
    let runs = 0;
    const ask = shareByKey(() =>
      defer(() => {
        runs += 1;
        return of(runs);
      }),
    );
    const seen: number[] = [];
    merge(ask('a'), ask('a')).subscribe({ next: (run) => seen.push(run), error: unexpected });
    expect(seen).toEqual([1, 2]);
  });

  it.each(['end', 'error'] as const)('starts one execution for all who ask again because of its %s', (how) => {
    const runs: Subject<string>[] = [];
    const ask = shareByKey(() => {
      const run = new Subject<string>();
      runs.push(run);
      return run;
    });
    const again = (): void => {
      ask('a').subscribe({ error: unexpected });
    };
    ask('a').subscribe({ complete: again, error: again });
    ask('a').subscribe({ complete: again, error: again });
    if (how === 'end') runs[0]?.complete();
    else runs[0]?.error(new Error('no'));
    expect(runs.length).toBe(2);
    again();
    expect(runs.length).toBe(2);
  });

  it('keeps nothing of a key whose work has ended or was cancelled', async () => {
    const refs: WeakRef<object>[] = [];
    const ask = shareByKey((key: { readonly cancelled: boolean }): Observable<never> => (key.cancelled ? NEVER : of()));
    for (let n = 0; n < 10_000; n += 1) {
      const key = { cancelled: n % 2 === 0 };
      refs.push(new WeakRef(key));
      ask(key).subscribe({ error: unexpected }).unsubscribe();
    }
    const { setFlagsFromString } = await import('node:v8');
    const { runInNewContext } = await import('node:vm');
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(10);
    expect(ask).toBeTypeOf('function');
  });
});
