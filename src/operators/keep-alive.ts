import { catchError, concat, defer, EMPTY, of, retry, tap, throwError, timer, type OperatorFunction } from 'rxjs';

/** One failure of a source that is kept alive. */
export interface Failure {
  readonly error: unknown;
  /** How many failures in a row this is, from 1. */
  readonly attempt: number;
  /** Milliseconds until the source is tried again. */
  readonly retryIn: number;
}

export interface KeepAliveConfig<F> {
  /** Milliseconds to wait after the first failure; each further one in a row waits twice as long. */
  readonly floor: number;
  /** The longest wait, in milliseconds. */
  readonly ceiling: number;
  /** Makes a failure visible as a value of the result. Without it failures leave no trace. */
  readonly report?: (failure: Failure) => F;
}

/**
 * Subscribes to a source again whenever it fails, after a delay that grows until it speaks.
 *
 * ```text
 * source    -a-#
 * result    -a-f--a-f--a-f--a-f     floor 2: each a ends a row of failures
 * ```
 *
 * * Never errors. Completes when the source does.
 * * Waits floor, 2 × floor, 4 × floor, ... at most ceiling; any value of the source starts over.
 * * A failure is emitted as `report` tells it, before the wait.
 */
export function keepAlive<T, F = never>(config: KeepAliveConfig<F>): OperatorFunction<T, T | F> {
  const { floor, ceiling, report } = config;

  return (source$) =>
    defer(() => {
      let attempt = 0;
      let retryIn = floor;

      return source$.pipe(
        tap(() => {
          attempt = 0;
        }),
        catchError((error: unknown) => {
          retryIn = Math.min(ceiling, floor * 2 ** attempt);
          attempt += 1;
          const told$ = report ? of(report({ error, attempt, retryIn })) : EMPTY;
          return concat(
            told$,
            throwError(() => new Error('to be tried again', { cause: error })),
          );
        }),
        retry({ delay: () => timer(retryIn) }),
      );
    });
}
