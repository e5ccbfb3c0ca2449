import { filter, map, mergeMap, type OperatorFunction } from 'rxjs';

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
    source$.pipe(
      map((value) => listOf(value)),
      filter(({ length }) => length > 0),
      mergeMap((list) => list),
    );
}
