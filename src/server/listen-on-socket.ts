import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { concatMap, Observable } from 'rxjs';

/** Why a server cannot listen at a path. */
export class SocketError extends Error {
  override readonly name = 'SocketError';
}

export interface SocketPlace {
  /** Its folder is made where it is missing. */
  readonly socket: string;
  /** What listens there, for messages: `agent`. */
  readonly who: string;
}

/** A server that has not begun to listen, and how to hang up on all its clients. */
export interface SocketServer {
  readonly server: Server;
  readonly hangUp: () => void;
}

export interface Listening {
  readonly kind: 'listening';
  readonly where: string;
}

/**
 * A server on a unix socket that only its owner may use (mode 0600). Emits `listening`, then what `begin` hands on;
 * never completes. Errors with a {@link SocketError} where it cannot listen. A socket that nobody serves is replaced.
 * Unsubscribing ends every connection and removes the socket.
 */
export function listenOnSocket<Event>(
  place: SocketPlace,
  begin: (next: (event: Event) => void) => SocketServer,
): Observable<Event | Listening> {
  return claim(place).pipe(concatMap(() => listen(place.socket, begin)));
}

/** Makes the path free, or errors where it belongs to somebody. Emits once. */
function claim({ socket, who }: SocketPlace): Observable<undefined> {
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
      observer.error(cannotListen(socket, new Error(`another ${who} answers on it`)));
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

function listen<Event>(
  socket: string,
  begin: (next: (event: Event) => void) => SocketServer,
): Observable<Event | Listening> {
  return new Observable((observer) => {
    let inode: number | undefined;
    const { server, hangUp } = begin((event) => {
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
      // Closing removes the path, which by now may be another one's.
      const isOurs = inode === undefined || lstatSync(socket, { throwIfNoEntry: false })?.ino === inode;
      if (isOurs) server.close();
      else server.unref();
      hangUp();
    };
  });
}

function cannotListen(socket: string, error: unknown): SocketError {
  return new SocketError(`cannot listen on ${socket}: ${error instanceof Error ? error.message : String(error)}`);
}
