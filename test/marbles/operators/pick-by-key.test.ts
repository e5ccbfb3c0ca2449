import { concat, map, merge, of, Subject, take, type Observer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pickByKey } from '../../../src/operators/pick-by-key.ts';
import { marbles } from '../harness.ts';

const same = (item: string): string => item;

function watching(heard: string[]): Observer<string> {
  return {
    next: (item) => heard.push(item),
    error: (error: unknown) => heard.push(String(error)),
    complete: () => heard.push('end'),
  };
}

describe('pickByKey', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('   -a-b-c-|');
      const pick = pickByKey(source, same);
      expectObservable(pick.of('a')).toBe('-a-----|');
      expectObservable(pick.of('b')).toBe('---b---|');
      expectSubscriptions(source.subscriptions).toBe('^------!');
    }),
  );

  it(
    'listens while anybody waits, and anew when somebody comes again',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('   -a-a-a-a-');
      const pick = pickByKey(source, same);
      expectObservable(pick.of('a'), '^---!').toBe('     -a-a-');
      expectObservable(pick.of('a'), '--^----!').toBe('   ---a-a-');
      expectObservable(pick.of('b'), '---------^--!').toBe('-');
      expectSubscriptions(source.subscriptions).toBe(['^------!', '---------^--!']);
    }),
  );

  it(
    'errors for all when its source does',
    marbles(({ cold, expectObservable }) => {
      const pick = pickByKey(cold('-a-#', { a: 'a' }), same);
      expectObservable(merge(pick.of('a'), pick.of('b'))).toBe('-a-#');
      expectObservable(pick.of('b')).toBe('---#');
    }),
  );

  it('is heard by who leaves and comes amid an item only as far as that', () => {
    const source = new Subject<string>();
    const pick = pickByKey(source, same);
    const heard: string[] = [];
    const first$ = pick.of('a').pipe(
      take(1),
      map((item) => `first ${item}`),
    );
    // Subscribed in the very step in which the first one hears its item.
    const later$ = pick.of('a').pipe(map((item) => `later ${item}`));
    concat(first$, later$).subscribe(watching(heard));
    source.next('a');
    expect(heard).toEqual(['first a']);
    source.next('a');
    expect(heard).toEqual(['first a', 'later a']);
  });

  it('ends with a source that ends at once', () => {
    const heard: string[] = [];
    pickByKey(of('a', 'b'), same).of('b').subscribe(watching(heard));
    expect(heard).toEqual(['b', 'end']);
  });
});
