import { concat, EMPTY, map, NEVER, of, Subject, tap, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { askEach } from '../../../src/operators/ask-each.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';

const failed = (error: unknown): string => (error as Error).message;

describe('askEach', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, hot, expectObservable }) => {
      const source = hot('a--b---c-----|');
      const question = ' ----x';
      const expected = ' ----a------c-|';
      const ask = (item: string) => cold(question).pipe(map(() => item));
      expectObservable(source.pipe(askEach({ ask, tries: 1, failed }))).toBe(expected);
    }),
  );

  it(
    'is silent while its source is, and completes with an empty one',
    marbles(({ cold, expectObservable }) => {
      const ask = (item: string) => of(item);
      expectObservable(cold('-').pipe(askEach({ ask, tries: 1, failed }))).toBe('-');
      expectObservable(cold('--|').pipe(askEach({ ask, tries: 1, failed }))).toBe('--|');
      expectObservable(cold('--a|').pipe(askEach({ ask, tries: 1, failed }))).toBe('--a|');
    }),
  );

  it(
    'waits for the open question before it completes, answered or not',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a-|').pipe(askEach({ ask: () => cold('----x-'), tries: 1, failed }))).toBe('----(x|)');
      expectObservable(cold('a-|').pipe(askEach({ ask: () => cold('----|'), tries: 1, failed }))).toBe('----|');
      expectObservable(cold('a-b-').pipe(askEach({ ask: () => EMPTY, tries: 1, failed }))).toBe('----');
    }),
  );

  it(
    'ends a question with its first answer, though that goes on',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const question = cold('--x-y-');
      const source = hot('   a---b---');
      expectObservable(source.pipe(askEach({ ask: () => question, tries: 1, failed }))).toBe('--x---x-');
      expectSubscriptions(question.subscriptions).toBe(['^-!', '----^-!']);
    }),
  );

  it('begins nothing after an answer that comes at once', () => {
    const begun: string[] = [];
    const told: string[] = [];
    const later$ = of('more').pipe(tap((it) => begun.push(it)));
    of('a', 'b')
      .pipe(askEach({ ask: (item) => concat(of(item), later$, NEVER), tries: 1, failed }))
      .subscribe({ next: (it) => told.push(it), error: unexpected });
    expect([told, begun]).toEqual([['a', 'b'], []]);
  });

  it(
    'puts a question that fails so often, and then tells that',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const question = cold('--#', {}, new Error('f'));
      const source = hot('   a-b----c------');
      expectObservable(source.pipe(askEach({ ask: () => question, tries: 3, failed }))).toBe('------f------f');
      const tries = ['^-!', '--^-!', '----^-!', '-------^-!', '---------^-!', '-----------^-!'];
      expectSubscriptions(question.subscriptions).toBe(tries);
    }),
  );

  it(
    'takes what is thrown for a question that fails',
    marbles(({ cold, expectObservable }) => {
      let asked = 0;
      const ask = (): Observable<string> => {
        asked += 1;
        throw new Error(String(asked));
      };
      expectObservable(cold('-a').pipe(askEach({ ask, tries: 3, failed }))).toBe('-3');
    }),
  );

  it(
    'passes an error of its source at once, and cancels the question, as when nobody listens any more',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const question = cold('-----x');
      expectObservable(hot(' a--#').pipe(askEach({ ask: () => question, tries: 3, failed }))).toBe('---#');
      expectObservable(hot(' a----').pipe(askEach({ ask: () => question, tries: 3, failed })), '^-!').toBe('---');
      expectSubscriptions(question.subscriptions).toBe(['^--!', '^-!']);
    }),
  );

  it('asks nothing new because of its own answer before that is told', () => {
    const source = new Subject<number>();
    const log: string[] = [];
    source.pipe(askEach({ ask: (n) => of(`answer ${n}`), tries: 1, failed })).subscribe({
      next: (answer) => {
        log.push(answer);
        if (answer === 'answer 1') source.next(2);
      },
      error: unexpected,
    });
    source.next(1);
    source.next(3);
    expect(log).toEqual(['answer 1', 'answer 3']);
  });

  it(
    'errors where it cannot be told that a question has failed',
    marbles(({ cold, expectObservable }) => {
      const ask = () => throwError(() => new Error('no'));
      const broken = (): never => {
        throw new Error('defect');
      };
      expectObservable(cold('-a').pipe(askEach({ ask, tries: 1, failed: broken }))).toBe('-#', {}, new Error('defect'));
    }),
  );
});
