import { catchError, concat, defer, ignoreElements, mergeMap, of, throwError, timer, type Observable } from 'rxjs';
import { allContainers } from '../model/containers.ts';
import { messageOf } from '../model/errors.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Http, HttpRequest } from '../streams/ports/http.ts';
import type { PodNote } from '../streams/workers/pod-work.ts';

export type LifecycleHandler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

/** In whose name a hook runs. */
export interface HookTarget {
  readonly containerId: string;
  readonly container: Pick<Container, 'name' | 'ports'>;
  /** Absent while the pod has no address, or on the node's network. */
  readonly podIp: string | undefined;
}

export interface HookPorts {
  readonly cri: Pick<Cri, 'execSync'>;
  readonly http: Http;
}

const USER_AGENT = ['User-Agent', 'kube-lifecycle/1.36'] as const;

/**
 * Runs one lifecycle hook (facts sheet 17). Completes when it has succeeded; errors when it has failed. It has no time
 * limit of its own: whoever subscribes sets one. Unsubscribing cancels it. Emits what is worth telling of a hook that has
 * succeeded: that https had to be given up.
 *
 * | handler   | succeeds when                                              |
 * | --------- | ---------------------------------------------------------- |
 * | `exec`    | the command exits 0                                        |
 * | `httpGet` | an answer comes, whatever its status; https is tried as http where it answers in http |
 * | `sleep`   | the seconds have passed                                    |
 */
export function runHook(handler: LifecycleHandler, target: HookTarget, { cri, http }: HookPorts): Observable<PodNote> {
  if (handler.exec) return exec(handler.exec.command ?? [], target.containerId, cri);
  if (handler.sleep) return timer(handler.sleep.seconds * 1_000).pipe(ignoreElements());
  if (handler.httpGet) return get(handler.httpGet, target, http);
  return throwError(() => new Error('the hook has no handler that can be run'));
}

function exec(command: readonly string[], containerId: string, cri: HookPorts['cri']): Observable<never> {
  return defer(() => cri.execSync({ containerId, cmd: command, timeout: 0 })).pipe(
    mergeMap(({ exitCode }) =>
      exitCode ? throwError(() => new Error(`the command exited with ${exitCode}`)) : of(undefined),
    ),
    ignoreElements(),
  );
}

function get(action: NonNullable<LifecycleHandler['httpGet']>, target: HookTarget, http: Http): Observable<PodNote> {
  return defer(() => {
    const request = requestOf(action, target);
    return http.get(request).pipe(
      ignoreElements(),
      catchError((error: unknown) =>
        request.scheme === 'https' && isPlainHttp(error) ? getPlain(request, http, error) : throwError(() => error),
      ),
    );
  });
}

/** Asks in the clear, without what nobody else may read. Where that fails too, the first error is the one that counts. */
function getPlain(request: HttpRequest, http: Http, first: unknown): Observable<PodNote> {
  const { host, port } = request;
  const headers = request.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  const note$ = of<PodNote>({
    level: 'Warning',
    reason: 'LifecycleHTTPFallback',
    message: `request to HTTPS lifecycle hook ${host.includes(':') ? `[${host}]` : host}:${port} got HTTP response, retry with HTTP succeeded`,
  });
  return concat(
    http.get({ ...request, scheme: 'http', headers }).pipe(
      ignoreElements(),
      catchError(() => throwError(() => first)),
    ),
    note$,
  );
}

function requestOf(
  { scheme, host, port, path, httpHeaders }: NonNullable<LifecycleHandler['httpGet']>,
  { container, podIp }: HookTarget,
): HttpRequest {
  const given = (httpHeaders ?? []).map(({ name, value }) => [name, value] as const);
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return {
    scheme: scheme === 'HTTPS' ? 'https' : 'http',
    host: [host, podIp].find(Boolean) ?? 'localhost',
    port: portNumber(port, container),
    path: path?.startsWith('/') ? path : `/${path ?? ''}`,
    headers: names.has('user-agent') ? given : [...given, USER_AGENT],
  };
}

function portNumber(port: string | number, { ports }: HookTarget['container']): number {
  if (typeof port === 'number') return port;
  const named = ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
  if (!Number.isInteger(named)) throw new Error(`the container has no port named ${JSON.stringify(port)}`);
  return named;
}

/** What Node says when it is answered in plain HTTP where it speaks TLS. */
function isPlainHttp(error: unknown): boolean {
  return /wrong version number|packet length too long|EPROTO/.test(messageOf(error));
}

/** The hook of a pod whose manifest is gone, from the annotation that the container was given (facts sheet 10.2). */
export function preStopOf(
  pod: Pod | undefined,
  name: string,
  annotation: string | undefined,
): LifecycleHandler | undefined {
  const container = pod && allContainers(pod.spec).find((one) => one.name === name);
  if (container) return container.lifecycle?.preStop;
  if (annotation === undefined) return undefined;
  try {
    return JSON.parse(annotation) as LifecycleHandler; // written by us, or by a kubelet, from a checked manifest
  } catch {
    return undefined;
  }
}
