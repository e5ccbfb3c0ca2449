import { Buffer } from 'node:buffer';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { Observable } from 'rxjs';
import type { Address } from './address.ts';
import { LONGEST_OUTPUT } from './answers.ts';

export interface HttpRequest extends Address {
  readonly scheme: 'http' | 'https';
  /** Path and query, as they stand in the request. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** How far one exchange has come; the last event is the answer. */
export type HttpEvent =
  | { readonly at: 'connected' }
  | { readonly at: 'headers' }
  | { readonly at: 'answer'; readonly status: number; readonly location: string; readonly body: string };

/** Each exchange has a connection of its own: what is asked is whether the server takes a new one. */
const AGENTS = {
  http: new http.Agent({ keepAlive: false }),
  https: new https.Agent({ keepAlive: false, maxCachedSessions: 0 }),
};

/**
 * Sends one GET request and emits how it goes, up to the first 10 KiB of the answer. Follows no redirect and believes
 * every certificate. Errors as Node does. The connection is reset once it is answered, or when nobody listens any more.
 */
export function httpExchange({ scheme, host, port, path, headers }: HttpRequest): Observable<HttpEvent> {
  return new Observable((subscriber) => {
    const { request } = scheme === 'https' ? https : http;
    const agent = AGENTS[scheme];
    const sent = request({ host, port, path, headers: mutable(headers), agent, rejectUnauthorized: false });
    const fail = (error: Error): void => {
      subscriber.error(error);
    };
    sent.on('error', fail);
    let connected: Socket | undefined;
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        connected = socket;
        subscriber.next({ at: 'connected' });
      });
    });
    sent.once('response', (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      const finish = (): void => {
        const { statusCode: status = 0, headers: answered } = response;
        const body = Buffer.concat(parts).subarray(0, LONGEST_OUTPUT).toString('utf8');
        subscriber.next({ at: 'answer', status, location: answered.location ?? '', body });
        subscriber.complete();
      };
      subscriber.next({ at: 'headers' });
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length >= LONGEST_OUTPUT) finish();
      });
      // Before Node closes the connection, which would keep its port taken (see probeTcp).
      response.prependOnceListener('end', finish);
      response.on('error', fail);
    });
    sent.end();
    return () => {
      // A TLS connection cannot be reset.
      if (scheme === 'http' && connected?.destroyed === false) connected.resetAndDestroy();
      sent.destroy();
    };
  });
}

function mutable(headers: HttpRequest['headers']): http.OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
