import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { concatMap, Observable } from 'rxjs';
import { hearRequests, SERVER_LIMITS, type ServerEvent } from './server-event.ts';

/** Why a server cannot listen at a path. */
export class SocketError extends Error {
  override readonly name = 'SocketError';
}

/**
 * An HTTP server on a unix socket that only its owner may use (mode 0600). Emits `listening`, then one event per
 * request; never completes. Errors with a {@link SocketError} where it cannot listen. A socket that nobody serves is
 * replaced. Unsubscribing ends every connection and removes the socket.
 */
export function serveUnixSocket(socket: string): Observable<ServerEvent> {
  return claim(socket).pipe(concatMap(() => listen(socket)));
}

/** Makes the path free, or errors where it belongs to somebody. Emits once. */
function claim(socket: string): Observable<undefined> {
  return new Observable((observer) => {
    try {
      mkdirSync(dirname(socket), { recursive: true, mode: 0o755 });
      if (!lstatSync(socket, { throwIfNoEntry: false })) {
        observer.next(undefined);
        observer.complete();
        return undefined;
      }
      if (!lstatSync(socket).isSocket()) throw new Error('something that is not a socket is in its place');
    } catch (error) {
      observer.error(cannotListen(socket, error));
      return undefined;
    }

    const probe = connect(socket);
    probe.once('connect', () => {
      observer.error(cannotListen(socket, new Error('another agent answers on it')));
    });
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      try {
        if (code !== 'ECONNREFUSED' && code !== 'ENOENT') throw new Error(`it cannot be tried (${code ?? 'unknown'})`);
        if (code === 'ECONNREFUSED') unlinkSync(socket);
        observer.next(undefined);
        observer.complete();
      } catch (error) {
        observer.error(cannotListen(socket, error));
      }
    });
    return () => {
      probe.destroy();
    };
  });
}

function listen(socket: string): Observable<ServerEvent> {
  return new Observable((observer) => {
    const server = createServer(SERVER_LIMITS);
    let inode: number | undefined;
    hearRequests(server, (event) => {
      observer.next(event);
    });
    server.on('error', (error) => {
      observer.error(cannotListen(socket, error));
    });
    server.on('listening', () => {
      observer.next({ kind: 'listening', where: socket });
    });

    // The address is bound before listen returns, and nobody can get in before the mode is set.
    server.listen(socket);
    if (server.listening) {
      chmodSync(socket, 0o600);
      inode = lstatSync(socket).ino;
    }

    return () => {
      // Closing removes the path, which by now may be another agent's.
      const isOurs = inode === undefined || lstatSync(socket, { throwIfNoEntry: false })?.ino === inode;
      if (isOurs) server.close();
      else server.unref();
      server.closeAllConnections();
    };
  });
}

function cannotListen(socket: string, error: unknown): SocketError {
  return new SocketError(`cannot listen on ${socket}: ${error instanceof Error ? error.message : String(error)}`);
}
