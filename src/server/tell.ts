import { catchError, map, mergeMap, of, take, timeout, type Observable } from 'rxjs';
import type { Route } from './route.ts';
import { send, type Answer } from './send.ts';

/** Milliseconds to wait for the first state after a start. */
const PATIENCE = 5_000;

/**
 * A handler that answers from the newest state, which `state$` emits at once to whoever subscribes; 503 where there is
 * none in time.
 */
export function tell<State>(
  state$: Observable<State>,
  answerOf: (state: State, query: URLSearchParams) => Answer,
): Route['answer'] {
  return ({ response, query }) =>
    state$.pipe(
      take(1),
      timeout(PATIENCE),
      map((state): Answer => answerOf(state, query)),
      catchError(() => of<Answer>({ status: 503, text: 'rxlet has nothing to show yet' })),
      mergeMap((answer) => send(response, answer)),
    );
}
