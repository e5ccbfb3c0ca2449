import { createServer, type Server } from 'node:http';
import { constants } from 'node:crypto';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { ignoreElements, merge, Observable, share, switchMap, take, tap } from 'rxjs';
import type { TlsIdentity } from '../streams/ports/tls-identity.ts';
import { hearRequests, SERVER_LIMITS, type ServerEvent } from './server-event.ts';

export interface TcpAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * An HTTP server that anybody may ask who reaches the address. Emits `listening`, then one event per request; never
 * completes. Errors where it cannot listen. Unsubscribing ends every connection.
 */
export function serveTcp(address: TcpAddress): Observable<ServerEvent> {
  return listen(() => createServer(SERVER_LIMITS), address);
}

/**
 * The same over TLS, for clients only whose certificate is signed by the authority and for clients: everybody else is
 * turned away in the handshake and reaches nothing. Each new identity holds for the connections that come after it.
 */
export function serveTls(address: TcpAddress, identity$: Observable<TlsIdentity>): Observable<ServerEvent> {
  return new Observable<SecureServer>((observer) => {
    observer.next(createSecureServer({ ...SERVER_LIMITS, ...TLS_LIMITS }));
  }).pipe(
    switchMap((server) => {
      const known$ = identity$.pipe(
        tap(({ cert, key, clientCa }) => {
          server.setSecureContext({ cert, key, ca: clientCa, ...TLS_LIMITS });
        }),
        share(),
      );
      return merge(
        known$.pipe(
          take(1),
          switchMap(() => listen(() => server, address)),
        ),
        known$.pipe(ignoreElements()),
      );
    }),
  );
}

/** A session is never resumed: each connection shows its certificate anew. The handshake gets 10 s. */
const TLS_LIMITS = {
  requestCert: true,
  rejectUnauthorized: true,
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_TICKET,
  handshakeTimeout: 10_000,
} as const;

function listen(make: () => Server | SecureServer, { host, port }: TcpAddress): Observable<ServerEvent> {
  return new Observable((observer) => {
    const server = make();
    const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    hearRequests(server, (event) => {
      observer.next(event);
    });
    server.on('error', (error) => {
      observer.error(new Error(`cannot listen on ${where}: ${error.message}`));
    });
    server.on('listening', () => {
      const address = server.address();
      const bound = address !== null && typeof address === 'object' && port === 0 ? `${host}:${address.port}` : where;
      observer.next({ kind: 'listening', where: bound });
    });
    server.listen({ host, port });
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}
