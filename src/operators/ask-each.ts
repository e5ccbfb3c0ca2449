import { from, Observable, type ObservableInput, type OperatorFunction, type Subscriber } from 'rxjs';

export interface AskEachConfig<T, R> {
  /** Puts the question of one item. Its first answer ends it, whatever would follow. */
  readonly ask: (item: T) => ObservableInput<R>;
  /** How often a question is put that fails; at least once. */
  readonly tries: number;
  /** What stands for the answer where the last try has failed. Must not throw: the result errors when it does. */
  readonly failed: (error: unknown) => R;
}

/**
 * Asks for each item once, unless the last question is still open.
 *
 * ```text
 * source    a--b---c-----|
 * ask(x)    ----x
 * result    ----a------c-|     b came while a was open
 * ```
 *
 * As `exhaustMap` to one answer. It costs one subscription for a question: a node asks its containers by the hundred
 * thousand. Completes when the source has and no question is open; an error of the source passes at once.
 */
export function askEach<T, R>({ ask, tries, failed }: AskEachConfig<T, R>): OperatorFunction<T, R> {
  return (source$) =>
    new Observable((result) => {
      let open: Subscriber<R> | undefined;
      let isOver = false;
      // Of the open question: there is but one, so what hears it is made once.
      let asked: T;
      let nth: number;
      let failure: { readonly error: unknown } | undefined;

      const question$ = new Observable<R>((subscriber) => {
        open = subscriber;
        from(ask(asked)).subscribe(subscriber);
      });
      const hearing = {
        next: (answer: R): void => {
          result.next(answer);
          open?.unsubscribe();
        },
        error: (error: unknown): void => {
          failure = { error };
        },
      };

      function put(): void {
        failure = undefined;
        // When all of it is over, its own teardown included.
        question$.subscribe(hearing).add(end);
      }

      function end(): void {
        if (failure && nth < tries && !result.closed) {
          nth += 1;
          put();
          return;
        }
        if (failure) tellFailure(failure.error);
        open = undefined;
        if (isOver) result.complete();
      }

      function tellFailure(error: unknown): void {
        try {
          result.next(failed(error));
        } catch (defect) {
          result.error(defect);
        }
      }

      result.add(() => {
        open?.unsubscribe();
      });
      return source$.subscribe({
        next: (item) => {
          if (open) return;
          asked = item;
          nth = 1;
          put();
        },
        error: (error: unknown) => {
          result.error(error);
        },
        complete: () => {
          isOver = true;
          if (!open) result.complete();
        },
      });
    });
}
