import { concat, map, mergeMap, take, tap, timer, type Observer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { tellByKey } from '../../../src/operators/tell-by-key.ts';
import { marbles } from '../harness.ts';

function hearing<T>(next: (item: T) => void): Observer<T> {
  const never = (): never => {
    throw new Error('it neither errors nor completes');
  };
  return { next, error: never, complete: () => undefined };
}

describe('tellByKey', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable }) => {
      const told = tellByKey<string, string>();
      cold('-a-b-a---').subscribe(
        hearing((item) => {
          told.tell(item, item);
        }),
      );
      expectObservable(told.of('a')).toBe('         -a---a---');
      expectObservable(told.of('b')).toBe('         ---b-----');
      expectObservable(told.of('b'), '  ----^----').toBe('---------');
    }),
  );

  it(
    'is heard by all who wait for the key, each until it leaves',
    marbles(({ cold, expectObservable }) => {
      const told = tellByKey<string, string>();
      cold('-a-b-c-d-', { a: '1', b: '2', c: '3', d: '4' }).subscribe(
        hearing((item) => {
          told.tell('key', item);
        }),
      );
      expectObservable(told.of('key'), '^---!').toBe('  -a-b-', { a: '1', b: '2' });
      expectObservable(told.of('key'), '--^---!').toBe('---b-c-', { b: '2', c: '3' });
      expectObservable(told.of('key'), '------^---').toBe('-------d', { d: '4' });
    }),
  );

  it('tells who comes while an item is being told of later ones only', () => {
    const told = tellByKey<string, string>();
    const heard: string[] = [];
    const first$ = told.of('a').pipe(
      take(1),
      map((item) => `first ${item}`),
    );
    // Subscribed in the very step in which the first one hears its item.
    const later$ = told.of('a').pipe(map((item) => `later ${item}`));
    concat(first$, later$).subscribe(hearing((item) => heard.push(item)));
    told.tell('a', '1');
    expect(heard).toEqual(['first 1']);
    told.tell('a', '2');
    expect(heard).toEqual(['first 1', 'later 2']);
  });

  it('goes on for the others when one leaves while an item is being told', () => {
    const told = tellByKey<string, string>();
    const heard: string[] = [];
    const second = told.of('a').subscribe(hearing(() => heard.push('second')));
    told
      .of('a')
      .pipe(take(1))
      .subscribe(
        hearing(() => {
          heard.push('once');
          second.unsubscribe();
        }),
      );
    told.of('a').subscribe(hearing(() => heard.push('third')));
    told.tell('a', '1');
    told.tell('a', '2');
    expect(heard).toEqual(['second', 'once', 'third', 'third']);
  });

  it(
    'passes on what it is given and tells it afterwards, but not to who came because of it',
    marbles(({ cold, expectObservable }) => {
      const told = tellByKey<string, string>();
      const heard: string[] = [];
      const passed$ = cold('-a-b-a-|').pipe(told.afterwards((item) => item));
      passed$
        .pipe(
          tap((item) => heard.push(`passed ${item}`)),
          mergeMap((item) =>
            told.of('a').pipe(
              take(1),
              map((later) => `${item} is told ${later}`),
            ),
          ),
        )
        .subscribe(hearing((line) => heard.push(line)));
      expectObservable(timer(8).pipe(map(() => heard))).toBe('--------(h|)', {
        h: ['passed a', 'passed b', 'passed a', 'a is told a', 'b is told a'],
      });
    }),
  );

  it(
    'errors as the source of what it passes on, and when the key cannot be told',
    marbles(({ cold, expectObservable }) => {
      const told = tellByKey<string, string>();
      expectObservable(cold('-a-#').pipe(told.afterwards((item) => item))).toBe('-a-#');
      const asked$ = cold('-a-b').pipe(
        told.afterwards((item) => {
          if (item === 'b') throw new Error('no key');
          return item;
        }),
      );
      expectObservable(asked$).toBe('-a-#', undefined, new Error('no key'));
    }),
  );
});
