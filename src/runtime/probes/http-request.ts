import { Buffer } from 'node:buffer';
import type { Probe } from '../../streams/probes/probe.ts';
import { textOf, type Address } from './address.ts';
import { USER_AGENT } from './answers.ts';
import type { HttpRequest } from './http-exchange.ts';

type HttpGet = NonNullable<Probe['httpGet']>;

export function requestOf({ host, port }: Address, { scheme, path = '/', httpHeaders = [] }: HttpGet): HttpRequest {
  return {
    scheme: scheme === 'HTTPS' ? 'https' : 'http',
    host,
    port,
    path: encodePath(path),
    headers: headersOf(httpHeaders),
  };
}

export function urlOf(request: HttpRequest): string {
  return `${request.scheme}://${textOf(request)}${request.path}`;
}

/** The request that a redirect asks for, if it asks for one. Throws when it asks for what cannot be asked. */
export function redirectOf(
  request: HttpRequest,
  { status, location }: { readonly status: number; readonly location: string },
): HttpRequest | undefined {
  if (!REDIRECTS.has(status) || location === '') return undefined;
  if (!URL.canParse(location, urlOf(request))) {
    throw new Error(`failed to parse Location header ${JSON.stringify(location)}`);
  }
  const { protocol, hostname, port, pathname, search } = new URL(location, urlOf(request));
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error(`unsupported protocol scheme ${JSON.stringify(protocol.slice(0, -1))}`);
  }
  const scheme = protocol === 'https:' ? 'https' : 'http';
  return {
    scheme,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORTS[scheme] : Number(port),
    path: pathname + search,
    // A virtual host is left when the server names another place in full, and kept when it names only a path.
    headers: URL.canParse(location) ? withoutHost(request.headers) : request.headers,
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Those of the probe, and the kubelet's own where the probe does not give them; an empty value takes them away. */
function headersOf(given: NonNullable<HttpGet['httpHeaders']>): HttpRequest['headers'] {
  const headers = new Map<string, readonly [name: string, values: readonly string[]]>();
  for (const { name, value } of given) {
    const key = name.toLowerCase();
    const [first, values] = headers.get(key) ?? [name, []];
    headers.set(key, [first, [...values, value]]);
  }
  for (const [name, value] of OWN_HEADERS) {
    const key = name.toLowerCase();
    if (!headers.has(key)) headers.set(key, [name, [value]]);
  }
  return Object.fromEntries(
    [...headers]
      .filter(([key, [, [first]]]) => first !== '' || !ABSENT_WHEN_EMPTY.has(key))
      .map(([key, [name, values]]) => [name, key === 'host' ? (values[0] ?? '') : values]),
  );
}

const OWN_HEADERS = [
  ['User-Agent', USER_AGENT],
  ['Accept', '*/*'],
] as const;
const ABSENT_WHEN_EMPTY: ReadonlySet<string> = new Set(['user-agent', 'accept', 'host']);

function withoutHost(headers: HttpRequest['headers']): HttpRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host'));
}

/** The path as a request line may carry it: rooted, without a fragment, with what may not stand there escaped. */
function encodePath(path: string): string {
  const [bare = ''] = path.split('#');
  const rooted = bare.startsWith('/') ? bare : `/${bare}`;
  return rooted.replace(/[^\x21-\x7e]+|["<>\\^`{|}]/g, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
