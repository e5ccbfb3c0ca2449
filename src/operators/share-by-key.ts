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
 * held per key in flight. The ask is the key, unless `keyOf` says what of it is; then the first ask is the one that is worked on.
 */
export function shareByKey<A, R>(
  work: (ask: A) => Observable<R>,
  keyOf: (ask: A) => unknown = (ask) => ask,
): (ask: A) => Observable<R> {
  const inFlight = new Map<unknown, Observable<R>>();
  return (ask) =>
    defer(() => {
      const key = keyOf(ask);
      const running$ = inFlight.get(key);
      if (running$) return running$;
      const forget = (): void => {
        if (inFlight.get(key) === shared$) inFlight.delete(key);
      };
      // Forgotten before its end is told, so that whoever asks again because of it starts anew.
      const shared$: Observable<R> = defer(() => work(ask)).pipe(
        tap({ complete: forget, error: forget }),
        finalize(forget),
        share(),
      );
      inFlight.set(key, shared$);
      return shared$;
    });
}
