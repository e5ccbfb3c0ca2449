import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { Observable } from 'rxjs';
import type { Http, HttpRequest } from '../../streams/ports/http.ts';

/** Sends requests with Node's own client: a connection each, closed with its answer. */
export function nodeHttp(): Http {
  return { get };
}

function get({ scheme, host, port, path, headers }: HttpRequest): Observable<number> {
  return new Observable((listener) => {
    const options = { host, port, path, headers: headersOf(headers), agent: false as const };
    const request = scheme === 'https' ? tlsRequest({ ...options, rejectUnauthorized: false }) : plainRequest(options);
    request.once('response', (response) => {
      response.destroy();
      listener.next(response.statusCode ?? 0);
      listener.complete();
    });
    request.once('error', (error) => {
      listener.error(error);
    });
    request.end();
    return () => {
      request.destroy();
    };
  });
}

/** Node wants a single value as it is, not in a list, for some of them. */
function headersOf(pairs: HttpRequest['headers']): Record<string, string | string[]> {
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of pairs) {
    const same = headers.get(name.toLowerCase());
    if (same) same.values.push(value);
    else headers.set(name.toLowerCase(), { name, values: [value] });
  }
  return Object.fromEntries(
    [...headers.values()].map(({ name, values: [first = '', ...more] }) => [
      name,
      more.length === 0 ? first : [first, ...more],
    ]),
  );
}
