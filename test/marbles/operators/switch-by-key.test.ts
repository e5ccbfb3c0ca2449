import { delay, EMPTY, finalize, map, NEVER, of, Subject, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { switchByKey } from '../../../src/operators/switch-by-key.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';

/** x has a place of its own; all other letters share one. */
const key = (item: string): string => (item === 'x' ? 'x' : 'a');

describe('switchByKey', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, hot, expectObservable }) => {
      const source = hot('        a--x-b---------|');
      const project = '           ------(r|)';
      const expected = '          ---------x-b---|';
      const follow = (item: string): Observable<string> => cold(project).pipe(map(() => item));
      expectObservable(source.pipe(switchByKey({ key, project: follow }))).toBe(expected);
    }),
  );

  it(
    'is silent while its source is, and completes with an empty one',
    marbles(({ cold, expectObservable }) => {
      const project = (item: string): Observable<string> => of(item);
      expectObservable(cold('-').pipe(switchByKey({ key, project }))).toBe('-');
      expectObservable(cold('--|').pipe(switchByKey({ key, project }))).toBe('--|');
      expectObservable(cold('--a|').pipe(switchByKey({ key, project }))).toBe('--a|');
    }),
  );

  it(
    'ends what was begun when nothing follows from the next item of the key',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const work = cold('   ----r');
      const source = hot('  a-o-|');
      const expected = '    ----|';
      const project = (item: string): Observable<string> | undefined => (item === 'o' ? undefined : work);
      expectObservable(source.pipe(switchByKey({ key, project }))).toBe(expected);
      expectSubscriptions(work.subscriptions).toBe('^-!');
    }),
  );

  it(
    'waits for what is open before it completes',
    marbles(({ cold, hot, expectObservable }) => {
      const source = hot('  a-|');
      const expected = '    ----r-|';
      expectObservable(source.pipe(switchByKey({ key, project: () => cold('----r-|') }))).toBe(expected);
    }),
  );

  it(
    'passes an error of its source or of a projection at once, and cancels all others',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open = cold('                 ------');
      const broken = cold('               ax-#');
      expectObservable(broken.pipe(switchByKey({ key, project: () => open }))).toBe('---#');
      expectSubscriptions(open.subscriptions).toBe(['^--!', '-^-!']);
      const failing = (item: string): Observable<string> => (item === 'x' ? throwError(() => new Error('no')) : NEVER);
      expectObservable(cold('             a--x-').pipe(switchByKey({ key, project: failing }))).toBe(
        '---#',
        {},
        new Error('no'),
      );
    }),
  );

  it(
    'cancels everything when nobody listens any more',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const open = cold('   ------');
      const source = hot('  ax------');
      expectObservable(source.pipe(switchByKey({ key, project: () => open })), '^--!').toBe('----');
      expectSubscriptions(open.subscriptions).toBe(['^--!', '-^-!']);
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }),
  );

  it('runs synchronous projections that feed their own source', () => {
    const source = new Subject<string>();
    const log: string[] = [];
    source.pipe(switchByKey({ key, project: (item) => of(`${item}1`, `${item}2`) })).subscribe({
      next: (told) => {
        log.push(told);
        if (told === 'a1') source.next('b');
        if (told === 'b1') source.next('x');
      },
      error: unexpected,
    });
    source.next('a');
    expect(log).toEqual(['a1', 'b1', 'x1', 'x2', 'b2']);
  });

  it(
    'starts from nothing for each subscriber',
    marbles(({ hot, expectObservable }) => {
      const source = hot('  a-b----');
      const result$ = source.pipe(switchByKey({ key, project: (item) => of(item).pipe(delay(3)) }));
      expectObservable(result$).toBe('-----b-');
      expectObservable(result$, '-^').toBe('-----b-');
    }),
  );

  it('holds one open projection of a key, and none once they have ended', () => {
    const source = new Subject<number>();
    let open = 0;
    let most = 0;
    const project = (item: number): Observable<never> => {
      open += 1;
      most = Math.max(most, open);
      return (item < 10_000 ? NEVER : EMPTY).pipe(
        finalize(() => {
          open -= 1;
        }),
      );
    };
    source.pipe(switchByKey({ key: (item) => item % 100 < 50, project })).subscribe({ error: unexpected });
    for (let item = 0; item < 10_000; item += 1) source.next(item);
    expect(most).toBe(2);
    source.next(10_001);
    source.next(10_099);
    expect(open).toBe(0);
  });
});
