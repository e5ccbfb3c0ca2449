import { mergeMap, of, type Observable } from 'rxjs';
import { answer } from './answer.ts';
import type { Route } from './route.ts';
import { serveUnixSocket } from './serve-unix-socket.ts';

export interface LocalApiConfig {
  /** Path of the unix socket; its folder is made where it is missing. */
  readonly socket: string;
  /** All of them are served, whatever their class. */
  readonly routes: readonly Route[];
}

/**
 * What rxlet tells about itself to root on the same machine, as HTTP over a unix socket.
 *
 * Emits the path of the socket once it listens, then never completes. Errors only where it cannot listen: another
 * agent answers there, or the place is not to be written. No client can end it. Unsubscribing hangs up and removes
 * the socket.
 */
export function localApi({ socket, routes }: LocalApiConfig): Observable<string> {
  return serveUnixSocket(socket).pipe(
    mergeMap((event) => (event.kind === 'listening' ? of(event.where) : answer(event, routes))),
  );
}
