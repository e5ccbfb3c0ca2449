import { readFile } from 'node:fs';
import { bindNodeCallback, catchError, concatMap, defer, forkJoin, map, Observable, of, throwError } from 'rxjs';
import { Agent } from 'undici';
import { messageOf } from '../../model/errors.ts';
import type { ManifestUrl } from '../../model/manifest/manifest-url.ts';
import type { FetchManifests, HttpAnswer, Validators } from './http-answer.ts';

/** Files of PEM; they are read for every question, so that they can be exchanged at any time. */
export interface TlsFiles {
  /** Who is trusted, in place of the authorities of the system. */
  readonly ca?: string;
  /** Certificate and key with which the node shows who it is. */
  readonly cert?: string;
  readonly key?: string;
}

export interface HttpEndpoint {
  readonly url: ManifestUrl;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly tls: TlsFiles;
}

/** Bytes; the kubelet's own limit (facts sheet 2.2). */
const LARGEST_ANSWER = 10 * 1024 * 1024;

/** As Go's client, which the kubelet uses, follows at most. */
const MOST_REDIRECTS = 10;

/**
 * Asks a URL with undici. Each question has a connection of its own that ends with
 * the answer or when it is unsubscribed from; there is no limit in time. Not more than 10 MiB are taken, and the body of
 * any status but 200 is not read.
 *
 * Redirects are followed, not from https to http; what was said in headers and user is for the first host alone.
 */
export function fetchManifests({ url, headers, tls }: HttpEndpoint): FetchManifests {
  const { shown, authorization } = url;
  const own = { ...(authorization !== undefined && { authorization }), ...lowerCase(headers) };
  return (known) =>
    defer(() => readTls(tls)).pipe(
      concatMap((secrets) => {
        const hop$ = (target: URL, isFirst: boolean, left: number): Observable<HttpAnswer> => {
          const agent = (): Agent =>
            new Agent({
              connect: { ...secrets, timeout: 0 },
              headersTimeout: 0,
              bodyTimeout: 0,
              maxResponseSize: LARGEST_ANSWER,
            });
          return ask(agent, target, { ...DEFAULT_HEADERS, ...conditions(known), ...(isFirst && own) }).pipe(
            concatMap(({ answer, location }) => {
              if (!REDIRECTS.has(answer.status) || location === undefined) return of(answer);
              const next = new URL(location, target);
              const problem = problemOfRedirect(target, next, left);
              if (problem !== undefined) return throwError(() => new Error(problem));
              return hop$(next, isFirst && next.origin === target.origin, left - 1);
            }),
          );
        };
        return hop$(new URL(shown), true, MOST_REDIRECTS);
      }),
    );
}

const DEFAULT_HEADERS = { accept: 'application/yaml, application/json, */*;q=0.5', 'user-agent': 'rxlet' };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function conditions({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

function lowerCase(headers: HttpEndpoint['headers']): Record<string, string[]> {
  const merged: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(headers)) (merged[name.toLowerCase()] ??= []).push(...values);
  return merged;
}

function problemOfRedirect(target: URL, next: URL, left: number): string | undefined {
  if (left === 0) return `the server redirects more than ${MOST_REDIRECTS} times`;
  if (next.protocol !== 'http:' && next.protocol !== 'https:') return `the server redirects to ${next.protocol}`;
  if (target.protocol === 'https:' && next.protocol === 'http:')
    return `the server redirects from https to http, to ${next.host}`;
  return undefined;
}

interface Hop {
  readonly answer: HttpAnswer;
  readonly location: string | undefined;
}

/** One question to one host. */
function ask(
  agent: () => Agent,
  { origin, pathname, search }: URL,
  headers: Record<string, string | string[]>,
): Observable<Hop> {
  return new Observable((listener) => {
    const dispatcher = agent();
    const fail = (error: unknown): void => {
      listener.error(new Error(explain(error), { cause: error }));
    };
    dispatcher.request({ origin, path: `${pathname}${search}`, method: 'GET', headers }, (error, response) => {
      // Whatever undici's types promise, there is no response with an error.
      const { statusCode: status, headers: got, body } = (response as typeof response | null) ?? {};
      if (error || status === undefined || got === undefined || body === undefined) {
        fail(error);
        return;
      }
      const chunks: Buffer[] = [];
      const end = (): void => {
        listener.next({
          answer: { ...said(got), status, body: Buffer.concat(chunks) },
          location: one(got['location']),
        });
        listener.complete();
      };
      body.on('error', fail);
      if (status !== 200) {
        end();
        return;
      }
      if (Number(one(got['content-length']) ?? 0) > LARGEST_ANSWER) {
        fail(new Error(TOO_LARGE));
        return;
      }
      body.on('data', (chunk: Buffer) => chunks.push(chunk));
      body.on('end', end);
    });
    return () => {
      dispatcher.destroy(null, () => undefined);
    };
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function said(headers: Headers): Pick<HttpAnswer, 'validators' | 'encoding'> {
  const [etag, lastModified, encoding] = ['etag', 'last-modified', 'content-encoding'].map((name) =>
    one(headers[name]),
  );
  return {
    validators: { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) },
    ...(encoding !== undefined && { encoding }),
  };
}

function one(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

const TOO_LARGE = 'the answer is larger than 10 MiB';

/** Node tells of several addresses that did not answer in an error without words. */
function explain(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return TOO_LARGE;
  if (code === 'UND_ERR_SOCKET') return `the connection broke before the answer was complete: ${messageOf(error)}`;
  return messageOf(error);
}

type Secrets = Readonly<Partial<Record<keyof TlsFiles, Buffer>>>;

function readTls(files: TlsFiles): Observable<Secrets> {
  const named = Object.entries(files) as readonly (readonly [keyof TlsFiles, string])[];
  if (named.length === 0) return of({});
  return forkJoin(
    named.map(([name, path]) =>
      readFile$(path).pipe(
        map((text): Secrets => ({ [name]: text })),
        catchError((error: unknown) => throwError(() => new Error(`${path} cannot be read: ${messageOf(error)}`))),
      ),
    ),
  ).pipe(map((parts) => Object.assign({}, ...parts) as Secrets));
}

const readFile$ = bindNodeCallback((path: string, done: (error: Error | null, bytes: Buffer) => void) => {
  readFile(path, done);
});
