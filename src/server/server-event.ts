import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** Somebody wants something of a server. */
export type ServerRequest =
  | { readonly kind: 'request'; readonly request: IncomingMessage; readonly response: ServerResponse }
  | {
      readonly kind: 'upgrade';
      readonly request: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    };

/** `where`: the address that it listens on, for people. */
export type ServerEvent = { readonly kind: 'listening'; readonly where: string } | ServerRequest;

/** Clients at one time; further ones are hung up on. */
const MOST_CLIENTS = 256;

/** What a client may cost before it has asked for anything: 16 KiB of headers, 10 s to send them, 60 s with the body. */
export const SERVER_LIMITS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
};

/** Hears what the clients of a server want. */
export function hearRequests(server: Server, next: (event: ServerRequest) => void): void {
  server.maxConnections = MOST_CLIENTS;
  server.on('request', (request, response) => {
    request.on('error', ignore);
    response.on('error', ignore);
    next({ kind: 'request', request, response });
  });
  server.on('upgrade', (request, socket, head) => {
    request.on('error', ignore);
    socket.on('error', ignore);
    next({ kind: 'upgrade', request, socket, head });
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, connection) => {
    // Who has not shown who he is hears nothing at all.
    const isStranger = connection instanceof TLSSocket && !connection.authorized;
    if (isStranger || !connection.writable) connection.destroy();
    else connection.end(`HTTP/1.1 ${STATUS_LINES[code ?? ''] ?? '400 Bad Request'}\r\nconnection: close\r\n\r\n`);
  });
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function ignore(): void {
  // A client that goes away in the middle is its own affair; 'close' ends the answer.
}
