import { from, Observable, type ObservableInput, type OperatorFunction, type Subscriber } from 'rxjs';

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
  return (source$) =>
    new Observable((result) => {
      const open = new Map<K, Subscriber<R>>();
      let isOver = false;

      function put(item: T): void {
        try {
          const name = key(item);
          open.get(name)?.unsubscribe();
          const inner$ = project(item);
          if (inner$ !== undefined) follow(name, inner$);
        } catch (error) {
          result.error(error);
        }
      }

      function follow(name: K, inner$: ObservableInput<R>): void {
        const followed$ = new Observable<R>((subscriber) => {
          // Known before it begins: what it causes at once may end it.
          open.set(name, subscriber);
          subscriber.add(() => {
            if (open.get(name) === subscriber) open.delete(name);
          });
          from(inner$).subscribe(subscriber);
        });
        followed$.subscribe({
          next: (value) => {
            result.next(value);
          },
          error: (error: unknown) => {
            result.error(error);
          },
          complete: () => {
            open.delete(name);
            if (isOver && open.size === 0) result.complete();
          },
        });
      }

      result.add(() => {
        for (const one of [...open.values()]) one.unsubscribe();
      });
      return source$.subscribe({
        next: put,
        error: (error: unknown) => {
          result.error(error);
        },
        complete: () => {
          isOver = true;
          if (open.size === 0) result.complete();
        },
      });
    });
}
