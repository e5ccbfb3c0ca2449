import { Observable, type OperatorFunction } from 'rxjs';

/**
 * Emits at once all that each value brings, in its order.
 *
 * ```text
 * source    a--b--c---|     a brings nothing, b: x, c: x and y
 * result    ---x--(xy)|
 * ```
 *
 * As `mergeMap` to lists, but a list that is empty, as most are, costs no more than a call. Errors when `listOf` throws.
 */
export function emitAll<T, R>(listOf: (value: T) => readonly R[]): OperatorFunction<T, R> {
  return (source$) =>
    new Observable((result) =>
      source$.subscribe({
        next: (value) => {
          let list: readonly R[];
          try {
            list = listOf(value);
          } catch (error) {
            result.error(error);
            return;
          }
          for (const each of list) result.next(each);
        },
        error: (error: unknown) => {
          result.error(error);
        },
        complete: () => {
          result.complete();
        },
      }),
    );
}
