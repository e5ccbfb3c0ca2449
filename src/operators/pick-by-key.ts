import { Observable, type Subscriber, type Subscription } from 'rxjs';

/** The items of a source, by their keys. */
export interface ByKey<T, K> {
  readonly of: (key: K) => Observable<T>;
}

/**
 * Lets many wait for the items of a key each: an item costs one look-up, however many wait for others.
 *
 * ```text
 * source      -a-b-c-|
 * of(a)       -a-----|
 * of(b)       ---b---|
 * ```
 *
 * The source is subscribed while anybody waits, once for all of them. Who comes while an item is being told hears later
 * ones only. Each ends as the source does; nothing is repeated.
 */
export function pickByKey<T, K>(source$: Observable<T>, keyOf: (item: T) => K): ByKey<T, K> {
  const waiting = new Map<K, Set<Subscriber<T>>>();
  let source: Subscription | undefined;

  function everybody(): readonly Subscriber<T>[] {
    return [...waiting.values()].flatMap((those) => [...those]);
  }

  function listen(): Subscription {
    return source$.subscribe({
      next: (item) => {
        for (const one of [...(waiting.get(keyOf(item)) ?? [])]) one.next(item);
      },
      error: (error: unknown) => {
        for (const one of everybody()) one.error(error);
      },
      complete: () => {
        for (const one of everybody()) one.complete();
      },
    });
  }

  function leave(key: K, one: Subscriber<T>): void {
    const those = waiting.get(key);
    those?.delete(one);
    if (those?.size === 0) waiting.delete(key);
    if (waiting.size === 0) source?.unsubscribe();
  }

  return {
    of: (key) =>
      new Observable((subscriber) => {
        const those = waiting.get(key) ?? new Set();
        waiting.set(key, those.add(subscriber));
        subscriber.add(() => {
          leave(key, subscriber);
        });
        if (!source || source.closed) source = listen();
      }),
  };
}
