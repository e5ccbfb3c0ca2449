import { Observable, type MonoTypeOperatorFunction, type Subscriber } from 'rxjs';

/** Many who wait for the items of one key each. */
export interface ToldByKey<K, T> {
  /** Those who wait for this key hear the item; who comes while they are being told does not. */
  readonly tell: (key: K, item: T) => void;
  /** The items that are told of a key from now on. Hot; never errors, never completes. */
  readonly of: (key: K) => Observable<T>;
  /**
   * Passes on what it is given, and tells each item when that is done, to those who waited for its key before: who
   * begins to wait because of the item does not hear it. Errors when `keyOf` throws, and as its source.
   */
  readonly afterwards: (keyOf: (item: T) => K) => MonoTypeOperatorFunction<T>;
}

/**
 * As a subject with a filter for a key behind each of its subscribers, but an item costs one look-up, however many wait
 * for other keys.
 *
 * ```text
 * tell        -a-b-a---     a: key a; b: key b
 * of(a)       -a---a---
 * of(b)       ---b-----
 * of(b)           ^----     subscribed after it
 * ```
 *
 * Nothing is repeated to who comes later, and nothing is kept of a key that nobody waits for.
 */
export function tellByKey<K, T>(): ToldByKey<K, T> {
  const waiting = new Map<K, Set<Subscriber<T>>>();

  function waitingFor(key: K): readonly Subscriber<T>[] {
    const those = waiting.get(key);
    return those ? [...those] : NOBODY;
  }

  return {
    tell: (key, item) => {
      for (const one of waitingFor(key)) one.next(item);
    },
    of: (key) =>
      new Observable((subscriber) => {
        const those = waiting.get(key) ?? new Set();
        waiting.set(key, those.add(subscriber));
        return () => {
          those.delete(subscriber);
          if (those.size === 0 && waiting.get(key) === those) waiting.delete(key);
        };
      }),
    afterwards: (keyOf) => (source$) =>
      new Observable((result) =>
        source$.subscribe({
          next: (item) => {
            let those: readonly Subscriber<T>[];
            try {
              those = waitingFor(keyOf(item));
            } catch (error) {
              result.error(error);
              return;
            }
            result.next(item);
            for (const one of those) one.next(item);
          },
          error: (error: unknown) => {
            result.error(error);
          },
          complete: () => {
            result.complete();
          },
        }),
      ),
  };
}

const NOBODY: readonly never[] = [];
