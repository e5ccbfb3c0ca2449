import { defer, of, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

/** What became of a stream in virtual time. */
export interface Told<T> {
  readonly values: readonly T[];
  /** Milliseconds at which each value came. */
  readonly times: readonly number[];
  readonly error?: unknown;
  readonly isComplete: boolean;
}

/** Lives through everything that a story brings about, in virtual time from 0 on. */
export function live<T>(story: () => Observable<T>): Told<T> {
  const values: T[] = [];
  const times: number[] = [];
  let error: unknown;
  let isComplete = false;
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(({ flush }) => {
    story().subscribe({
      next: (value) => {
        values.push(value);
        times.push(scheduler.now());
      },
      error: (failure: unknown) => {
        error = failure;
      },
      complete: () => {
        isComplete = true;
      },
    });
    flush();
  });
  return { values, times, error, isComplete };
}

/** Something that happens when its turn comes. */
export function act<T>(effect: () => T): Observable<T> {
  return defer(() => of(effect()));
}
