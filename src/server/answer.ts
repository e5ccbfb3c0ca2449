import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  catchError,
  combineLatest,
  defer,
  EMPTY,
  fromEvent,
  ignoreElements,
  take,
  takeUntil,
  tap,
  timeout,
  type Observable,
} from 'rxjs';
import type { EventLog } from '../streams/events/event-log.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { streamViews } from './stream-views.ts';

type Answer = { readonly status: number; readonly text: string } | { readonly status: number; readonly json: unknown };

/** What to answer on each path, from the newest view. */
export type Routes = Readonly<Record<string, (view: NodeView, events: EventLog) => Answer>>;

/** What there is to tell; each emits its newest state at once. */
export interface Sights {
  readonly view$: Observable<NodeView>;
  readonly events$: Observable<EventLog>;
}

const WATCH = '/rxlet/watch';
/** Milliseconds to wait for the first view after a start. */
const PATIENCE = 5_000;

/**
 * Answers one request. Emits nothing, completes when the answer is given or the client has gone, and never errors:
 * what goes wrong is told to the client.
 */
export function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { view$, events$ }: Sights,
  routes: Routes,
): Observable<never> {
  return defer(() => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'only GET is answered here');
    if (path === WATCH) return streamViews(response, view$);
    if (!route) return refuse(response, 404, `no such page; there are ${[...Object.keys(routes), WATCH].join(', ')}`);
    return combineLatest([view$, events$]).pipe(
      take(1),
      timeout(PATIENCE),
      tap(([view, events]) => {
        send(response, route(view, events));
      }),
      ignoreElements(),
    );
  }).pipe(
    catchError(() => refuse(response, 503, 'rxlet has nothing to show yet')),
    takeUntil(fromEvent(response, 'close')),
  );
}

function refuse(response: ServerResponse, status: number, text: string): Observable<never> {
  return defer(() => {
    send(response, { status, text });
    return EMPTY;
  });
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const json = 'json' in answer;
  const body = json ? `${JSON.stringify(answer.json)}\n` : `${answer.text}\n`;
  response.writeHead(answer.status, { 'content-type': json ? 'application/json' : 'text/plain; charset=utf-8' });
  response.end(body);
}
