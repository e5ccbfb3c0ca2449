import type { ServerResponse } from 'node:http';
import { concat, defer, EMPTY, fromEvent, ignoreElements, of, take, tap, throttle, type Observable } from 'rxjs';
import type { NodeView } from '../streams/view/node-view.ts';

/**
 * Sends views as lines of JSON: the newest one whenever the client has taken the one before, so that a slow client
 * costs one buffered line and sees the present, not the past. Emits nothing; ends with `view$`.
 */
export function streamViews(response: ServerResponse, view$: Observable<NodeView>): Observable<never> {
  return concat(
    defer(() => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.flushHeaders();
      return EMPTY;
    }),
    view$.pipe(
      throttle(() => taken(response), { leading: true, trailing: true }),
      tap((view) => {
        response.write(`${JSON.stringify(view)}\n`);
      }),
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
