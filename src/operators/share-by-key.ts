import { defer, finalize, share, tap, type Observable } from 'rxjs';

/**
 * Lets everyone who asks for the same key at the same time share one execution.
 *
 * ```text
 * first ask     ^
 * second ask    ---^
 * work          -------(r|)      subscribed once
 * first         -------(r|)
 * second        -------(r|)
 * ```
 *
 * The execution is cancelled when the last who waits for it stops waiting; the next ask after its end starts anew.
 * Values before a late ask are not repeated, so it is meant for work that tells its result at its end. One entry is
 * held per key in flight.
 */
export function shareByKey<K, R>(work: (key: K) => Observable<R>): (key: K) => Observable<R> {
  const inFlight = new Map<K, Observable<R>>();
  return (key) =>
    defer(() => {
      const running$ = inFlight.get(key);
      if (running$) return running$;
      const forget = (): void => {
        if (inFlight.get(key) === shared$) inFlight.delete(key);
      };
      // Forgotten before its end is told, so that whoever asks again because of it starts anew.
      const shared$: Observable<R> = defer(() => work(key)).pipe(
        tap({ complete: forget, error: forget }),
        finalize(forget),
        share(),
      );
      inFlight.set(key, shared$);
      return shared$;
    });
}
