import type { ServerResponse } from 'node:http';
import { concat, defer, EMPTY, fromEvent, ignoreElements, of, scan, take, throttle, type Observable } from 'rxjs';

/**
 * Sends a state that changes as lines of JSON: the newest one whenever the client has taken what was written before,
 * so that a slow client costs one state and sees the present, not the past. `linesOf` tells what there is to say of a
 * state to somebody who knows an earlier one; nobody knows any at first. Emits nothing; ends with `state$`.
 */
export function streamLines<State>(
  response: ServerResponse,
  state$: Observable<State>,
  linesOf: (now: State, known: State | undefined) => readonly unknown[],
): Observable<never> {
  return concat(
    defer(() => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-content-type-options': 'nosniff' });
      response.flushHeaders();
      return EMPTY;
    }),
    state$.pipe(
      throttle(() => taken(response), { leading: true, trailing: true }),
      scan((known: State | undefined, now) => {
        const lines = linesOf(now, known).map((line) => `${JSON.stringify(line)}\n`);
        if (lines.length > 0) response.write(lines.join(''));
        return now;
      }, undefined),
      ignoreElements(),
    ),
    defer(() => {
      response.end();
      return EMPTY;
    }),
  );
}

/** Emits once as soon as the client has taken what was written before. */
function taken(response: ServerResponse): Observable<unknown> {
  return defer(() => (response.writableNeedDrain ? fromEvent(response, 'drain').pipe(take(1)) : of(undefined)));
}
