import { request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Observable, switchMap } from 'rxjs';
import type { Upgrade } from './route.ts';

/** Milliseconds that the runtime's server gets to answer. */
const PATIENCE = 30_000;
/** Milliseconds that a client gets to hang up after the other end has. */
const FAREWELL = 10_000;
/** Bytes of a refusal that are passed on. */
const MOST_TEXT = 64 * 1024;

/**
 * Passes a connection on to another server, byte by byte, whatever protocol the client wants to speak on it (SPDY or
 * WebSocket). A refusal of the other server is passed on as it is.
 *
 * Emits nothing; completes when both directions have ended. Either may end before the other one; where one breaks, both
 * are cut. Unsubscribing cuts them. Errors where the other server cannot be reached, before anything was answered.
 */
export function tunnel({ request, socket, head, refuse }: Upgrade, target: string): Observable<never> {
  const refusal$ = new Observable<Refusal>((observer) => {
    let call: ClientRequest | undefined;
    try {
      call = dial(new URL(target), request);
    } catch (error) {
      observer.error(error);
      return undefined;
    }
    let other: Duplex | undefined;
    call.setTimeout(PATIENCE, () => call.destroy(new Error('the runtime does not answer')));
    call.on('error', (error) => {
      observer.error(error);
    });
    call.on('upgrade', (answer, connection, first) => {
      other = connection;
      call.setTimeout(0);
      socket.write(headOf(answer));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) connection.write(head);
      join(socket, connection, () => {
        observer.complete();
      });
    });
    call.on('response', (answer) => {
      textOf(answer, (text) => {
        observer.next({ status: answer.statusCode ?? 502, text });
        observer.complete();
      });
    });
    call.end();
    return () => {
      call.destroy();
      other?.destroy();
    };
  });
  return refusal$.pipe(switchMap(({ status, text }) => refuse(status, text)));
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Sends the same request to another place. */
function dial(target: URL, request: IncomingMessage): ClientRequest {
  if (DEFAULT_PORTS[target.protocol] === undefined)
    throw new Error(`the runtime told an address of ${target.protocol}`);
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).filter(([name]) => !NOT_PASSED_ON.has(name)),
  );
  const host = LOCAL.has(target.hostname) ? '127.0.0.1' : target.hostname.replace(/^\[|\]$/g, '');
  const place = { host, port: Number(target.port || DEFAULT_PORTS[target.protocol]), allowHalfOpen: true };
  return plainRequest({
    method: request.method,
    path: `${target.pathname}${target.search}`,
    headers: { ...headers, host: target.host, ...(request.method === 'POST' ? { 'content-length': '0' } : {}) },
    // Who answers over TLS was told over the runtime's own socket; its certificate is signed by nobody.
    createConnection: () =>
      target.protocol === 'https:' ? connectTls({ ...place, rejectUnauthorized: false }) : connect(place),
  });
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
/** Who the client is was found out here, and is nobody else's business. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set(['host', 'authorization', 'cookie', 'content-length']);
/** Addresses to listen on that are none to go to. */
const LOCAL: ReadonlySet<string> = new Set(['', '0.0.0.0', '[::]']);

function headOf({ statusCode = 101, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index] ?? ''}: ${rawHeaders[index + 1] ?? ''}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Both directions until both have ended; `done` is called once. */
function join(client: Duplex, server: Duplex, done: () => void): void {
  let open = 2;
  let farewell: NodeJS.Timeout | undefined;
  function ended(error: unknown): void {
    open -= 1;
    if (error) cut();
    if (open > 0) return;
    clearTimeout(farewell);
    done();
  }
  function cut(): void {
    client.destroy();
    server.destroy();
  }
  for (const end of [client, server]) {
    if (end instanceof Socket) end.setNoDelay(true).setKeepAlive(true);
  }
  pipeline(client, server, ended);
  pipeline(server, client, (error) => {
    farewell = setTimeout(cut, FAREWELL);
    farewell.unref();
    ended(error);
  });
}

function textOf(answer: IncomingMessage, then: (text: string) => void): void {
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    if (text.length < MOST_TEXT) text += chunk;
  });
  answer.on('error', () => undefined);
  answer.on('close', () => {
    then(text);
  });
}
