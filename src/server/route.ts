import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Observable } from 'rxjs';

/**
 * Who may ask. Every listener serves the classes that it is for, and knows nothing of the other routes.
 *
 * | class    | unix socket (root) | 10250 (client certificate) | 10248 (anybody on this machine) |
 * | -------- | ------------------ | -------------------------- | ------------------------------- |
 * | `health` | yes                | yes                        | yes                             |
 * | `node`   | yes                | yes                        | no                              |
 * | `local`  | yes                | no                         | no                              |
 */
export type Access = 'health' | 'node' | 'local';

/** What is asked on a route, taken apart. */
export interface Asked {
  readonly request: IncomingMessage;
  /** What stands in the place of each `:name` of the path, decoded; never empty, never with a slash. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** A request that waits for its answer. Its body flows from the next tick on, at most {@link MOST_BODY} bytes of it. */
export interface Exchange extends Asked {
  readonly response: ServerResponse;
}

/** A connection whose client wants to speak another protocol on it. Whoever takes it owns the socket, and ends it. */
export interface Upgrade extends Asked {
  readonly socket: Duplex;
  /** What the client has sent already of the other protocol. */
  readonly head: Buffer;
  /** Says no in plain HTTP, and hangs up. Emits nothing. */
  readonly refuse: (status: number, text: string) => Observable<never>;
}

/**
 * One entry of the routing table. Handlers emit nothing, complete when all is said, and are unsubscribed when the
 * client has gone or the server ends; an error is told to the client as 500 and ends nothing else.
 */
export interface Route {
  /** `/containerLogs/:namespace/:pod/:container`; a slash at the end makes no difference. */
  readonly path: string;
  /** GET where nothing is said; HEAD comes with GET. */
  readonly methods?: readonly string[];
  readonly access: Access;
  readonly answer: (exchange: Exchange) => Observable<never>;
  /** Absent: the wish to upgrade is not heard, and the request is answered as any other one. */
  readonly upgrade?: (upgrade: Upgrade) => Observable<never>;
}

/** Bytes of a request body that are taken; the connection of whoever sends more is cut. */
export const MOST_BODY: number = 1024 * 1024;

export type Match =
  | { readonly kind: 'found'; readonly route: Route; readonly asked: Pick<Asked, 'params' | 'query'> }
  | { readonly kind: 'refused'; readonly status: 400 | 404 | 405; readonly text: string; readonly allow?: string };

/** Finds the route that a request means. Nothing is normalized: a path with `.` or `..` in it is no path of ours. */
export function findRoute(routes: readonly Route[], { url = '', method = '' }: IncomingMessage): Match {
  const [path = '', ...rest] = url.split('?');
  const segments = decoded(path);
  if (segments === undefined) return { kind: 'refused', status: 400, text: 'this path cannot be read' };

  const found = routes.flatMap((route) => {
    const params = paramsOf(route.path, segments);
    return params ? [{ route, params }] : [];
  });
  if (found.length === 0) {
    const paths = routes.map((route) => route.path);
    return { kind: 'refused', status: 404, text: `no such page; there are ${paths.join(', ')}` };
  }
  const fit = found.find(({ route }) => methodsOf(route).includes(method));
  if (!fit) {
    const allow = [...new Set(found.flatMap(({ route }) => methodsOf(route)))].join(', ');
    return { kind: 'refused', status: 405, text: `only ${allow} is answered here`, allow };
  }
  const query = new URLSearchParams(rest.join('?'));
  return { kind: 'found', route: fit.route, asked: { params: fit.params, query } };
}

function methodsOf({ methods = ['GET'] }: Route): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

/** The parts of a path, or nothing where it holds what could be mistaken for another path. */
function decoded(path: string): readonly string[] | undefined {
  if (!path.startsWith('/')) return undefined;
  try {
    const segments = path.slice(1).replace(/\/$/, '').split('/').map(decodeURIComponent);
    return segments.some((segment) => UNSAFE.test(segment)) ? undefined : segments;
  } catch {
    return undefined;
  }
}

/** A NUL would end a path for the kernel. */
const UNSAFE = /^\.{1,2}$|[/\\\u0000]/;

function paramsOf(pattern: string, segments: readonly string[]): Readonly<Record<string, string>> | undefined {
  const parts = pattern.slice(1).replace(/\/$/, '').split('/');
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = segment;
    else if (part !== segment) return undefined;
  }
  return params;
}
