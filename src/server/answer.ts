import { ServerResponse, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { catchError, defer, fromEvent, takeUntil, tap, type Observable } from 'rxjs';
import { findRoute, MOST_BODY, type Route } from './route.ts';
import { send } from './send.ts';
import type { ServerRequest } from './server-event.ts';

/**
 * Answers one request by the routing table. Emits nothing, completes when the answer is given or the client has gone,
 * and never errors: what goes wrong is told to the client.
 */
export function answer(event: ServerRequest, routes: readonly Route[]): Observable<never> {
  return event.kind === 'request'
    ? answerRequest(event.request, event.response, routes)
    : answerUpgrade(event.request, event.socket, event.head, routes);
}

function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  routes: readonly Route[],
): Observable<never> {
  return defer(() => {
    if (!limitBody(request)) {
      response.setHeader('connection', 'close');
      return send(response, { status: 413, text: `a request body may have ${MOST_BODY} bytes` });
    }
    const match = findRoute(routes, request);
    if (match.kind === 'refused') {
      if (match.allow !== undefined) response.setHeader('allow', match.allow);
      return send(response, { status: match.status, text: match.text });
    }
    return match.route.answer({ request, response, ...match.asked });
  }).pipe(
    catchError(() => send(response, { status: 500, text: 'this went wrong in rxlet itself' })),
    takeUntil(fromEvent(response, 'close')),
  );
}

function answerUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  routes: readonly Route[],
): Observable<never> {
  function refuse(status: number, text: string): Observable<never> {
    return send(plainResponse(request, socket), { status, text });
  }

  return defer(() => {
    const match = findRoute(routes, request);
    if (match.kind === 'refused' || !match.route.upgrade) {
      return answerRequest(request, plainResponse(request, socket), routes);
    }
    return match.route.upgrade({ request, socket, head, refuse, ...match.asked }).pipe(
      catchError(() => refuse(500, 'this went wrong in rxlet itself')),
      tap({ unsubscribe: () => socket.destroy() }),
      takeUntil(fromEvent(socket, 'close')),
    );
  });
}

/** For a client that asked for another protocol and hears an answer in this one; it ends the connection. */
function plainResponse(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.on('error', () => undefined);
  response.on('finish', () => socket.end());
  if (socket instanceof Socket) response.assignSocket(socket);
  else socket.destroy();
  return response;
}

/** Lets the body flow, and cuts off who sends too much of it. False where the client says so beforehand. */
function limitBody(request: IncomingMessage): boolean {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BODY) return false;
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MOST_BODY) request.destroy();
  });
  return true;
}
