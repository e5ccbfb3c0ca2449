import { createServer } from 'node:http';
import type { Observable } from 'rxjs';
import { listenOnSocket } from './listen-on-socket.ts';
import { hearRequests, SERVER_LIMITS, type ServerEvent, type ServerRequest } from './server-event.ts';

/** The agent's HTTP server, as {@link listenOnSocket} has it; emits one event per request. */
export function serveUnixSocket(socket: string): Observable<ServerEvent> {
  return listenOnSocket<ServerRequest>({ socket, who: 'agent' }, (next) => {
    const server = createServer(SERVER_LIMITS);
    hearRequests(server, next);
    return {
      server,
      hangUp: () => {
        server.closeAllConnections();
      },
    };
  });
}
