import { of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { emitAll } from '../../../src/operators/emit-all.ts';
import { marbles } from '../harness.ts';

const BRINGS: Readonly<Record<string, readonly string[]>> = { a: [], b: ['x'], c: ['x', 'y'] };
const listOf = (value: string): readonly string[] => BRINGS[value] ?? [];

describe('emitAll', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('   a--b--c---|');
      expectObservable(source.pipe(emitAll(listOf))).toBe('---x--(xy)|');
      expectSubscriptions(source.subscriptions).toBe('^---------!');
    }),
  );

  it(
    'passes on an end, an error, and that there is neither',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('|').pipe(emitAll(listOf))).toBe('|');
      expectObservable(cold('-b-#').pipe(emitAll(listOf))).toBe('-x-#');
      expectObservable(cold('-').pipe(emitAll(listOf))).toBe('-');
      const error = new Error('broken');
      expectObservable(throwError(() => error).pipe(emitAll(listOf))).toBe('#', {}, error);
    }),
  );

  it(
    'errors when the list cannot be told',
    marbles(({ cold, expectObservable }) => {
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(cold('--a').pipe(emitAll(broken))).toBe('--#', {}, new Error('broken'));
    }),
  );

  it(
    'lets go of its source in the middle of a list',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--c---b');
      expectObservable(source.pipe(emitAll(listOf)), '^---!').toBe('--(xy)');
      expectSubscriptions(source.subscriptions).toBe('^---!');
      expectObservable(of('b', 'c').pipe(emitAll(listOf))).toBe('(xxy|)');
    }),
  );
});
