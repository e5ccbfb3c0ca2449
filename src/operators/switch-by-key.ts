import {
  defer,
  EMPTY,
  finalize,
  from,
  mergeMap,
  Subject,
  takeUntil,
  type Observable,
  type ObservableInput,
  type OperatorFunction,
} from 'rxjs';

export interface SwitchByKeyConfig<T, K, R> {
  /** Names the place an item takes over. */
  readonly key: (item: T) => K;
  /** What follows from the item, until the next one of its key arrives; `undefined` for nothing. */
  readonly project: (item: T) => ObservableInput<R> | undefined;
}

/**
 * Is `switchMap` for every key apart: a new item of a key ends what the last one had begun.
 *
 * ```text
 * source      a--x-b---------|     a, b: one key; x: another
 * project     ------(r|)
 * result      ---------x-b---|     b replaced a before a had anything to tell
 * ```
 *
 * Holds one entry per key whose projection is still open, and no more. An error of a projection is an error
 * of the result; completion waits for the open projections.
 */
export function switchByKey<T, K, R>({ key, project }: SwitchByKeyConfig<T, K, R>): OperatorFunction<T, R> {
  return (source$: Observable<T>) =>
    defer(() => {
      const open = new Map<K, Subject<void>>();
      return source$.pipe(
        mergeMap((item) => {
          const name = key(item);
          open.get(name)?.next();
          const inner$ = project(item);
          if (inner$ === undefined) return EMPTY;
          const replaced = new Subject<void>();
          open.set(name, replaced);
          return from(inner$).pipe(
            takeUntil(replaced),
            finalize(() => {
              if (open.get(name) === replaced) open.delete(name);
            }),
          );
        }),
      );
    });
}
