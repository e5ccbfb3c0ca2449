import { catchError, defer, map, switchMap, type Observable } from 'rxjs';
import type { ExecSyncResponse } from '../model/cri/api.ts';
import { messageOf, RuntimeError } from '../model/errors.ts';
import { instanceToEnter } from '../model/logs/instance-of.ts';
import type { PodUid } from '../model/pod.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { findInstance, findPodNamed, type Found } from './find-instance.ts';
import type { Asked, Exchange, Route, Upgrade } from './route.ts';
import { send } from './send.ts';
import { tunnel } from './tunnel.ts';

/** Which ends of a process a client wants. */
interface Ends {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface StreamRoutesConfig {
  /** Emits the newest view at once to whoever subscribes, then each change. */
  readonly view$: Observable<NodeView>;
  /** Where the runtime can be talked to; each emits one URL. */
  readonly exec: (containerId: string, command: readonly string[], ends: Ends) => Observable<string>;
  readonly attach: (containerId: string, ends: Ends) => Observable<string>;
  readonly portForward: (uid: PodUid, ports: readonly number[]) => Observable<string>;
  /** Runs a command to its end. */
  readonly run: (containerId: string, command: readonly string[]) => Observable<ExecSyncResponse>;
}

/**
 * | path                                        | what it is                                                            |
 * | ------------------------------------------- | --------------------------------------------------------------------- |
 * | `/exec/:namespace/:pod[/:uid]/:container`    | `command` (once per word), `input`, `output`, `error`, `tty`           |
 * | `/attach/:namespace/:pod[/:uid]/:container`  | the same without `command`                                            |
 * | `/portForward/:namespace/:pod[/:uid]`        | `port`, once per port, of those that speak WebSocket                   |
 * | `/run/:namespace/:pod[/:uid]/:container`     | POST; `cmd`, words apart; answers with what the command wrote          |
 *
 * All but the last want the connection upgraded, to SPDY/3.1 or WebSocket; which protocols there are on it is up to the
 * runtime, whose streaming server speaks at the other end.
 */
export function streamRoutes({ view$, exec, attach, portForward, run }: StreamRoutesConfig): readonly Route[] {
  function container({ params }: Asked): Observable<Found> {
    return findInstance(view$, params, (status) => instanceToEnter(status, params['container'] ?? ''));
  }

  function execUrl({ query }: Asked, { containerId }: Entered): Wanted {
    const command = query.getAll('command');
    if (command.length === 0) return { problem: 'there is no command: say which one with ?command=' };
    const ends = endsOf(query);
    return 'problem' in ends ? ends : { url$: exec(containerId, command, ends) };
  }

  function attachUrl({ query }: Asked, { containerId }: Entered): Wanted {
    const ends = endsOf(query);
    return 'problem' in ends ? ends : { url$: attach(containerId, ends) };
  }

  function portsUrl({ query }: Asked, { pod }: Entered): Wanted {
    const ports = query.getAll('port').flatMap((text) => text.split(','));
    const wrong = ports.find((text) => !/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535);
    if (wrong !== undefined) return { problem: `port must be a number from 1 to 65535, not "${wrong}"` };
    return { url$: portForward(pod.pod.metadata.uid, ports.map(Number)) };
  }

  function command({ query, response, ...asked }: Exchange): Observable<never> {
    const words = (query.get('cmd') ?? '').split(' ').filter((word) => word !== '');
    if (words.length === 0)
      return send(response, { status: 400, text: 'there is no command: say which one with ?cmd=' });
    return container({ ...asked, query }).pipe(
      switchMap((found) =>
        found.kind === 'refused'
          ? send(response, { status: found.status, text: found.text })
          : run(found.containerId, words).pipe(
              switchMap(({ stdout = NOTHING, stderr = NOTHING }) =>
                send(response, { status: 200, text: Buffer.concat([stdout, stderr]).toString() }),
              ),
              catchError((error: unknown) => send(response, { status: statusOf(error), text: messageOf(error) })),
            ),
      ),
    );
  }

  return [
    ...both('/exec/:namespace/:pod', '/:container').map((path) => tunnelRoute(path, container, execUrl)),
    ...both('/attach/:namespace/:pod', '/:container').map((path) => tunnelRoute(path, container, attachUrl)),
    ...both('/portForward/:namespace/:pod', '').map((path) =>
      tunnelRoute(path, ({ params }) => findPodNamed(view$, params), portsUrl),
    ),
    ...both('/run/:namespace/:pod', '/:container').map((path): Route => ({
      path,
      methods: ['POST'],
      access: 'node',
      answer: command,
    })),
  ];
}

type Entered = Extract<Found, { readonly kind: 'found' }>;
type Wanted = { readonly url$: Observable<string> } | { readonly problem: string };

const NOTHING = new Uint8Array();

/** Without the pod's UID, and with it. */
function both(pod: string, rest: string): readonly string[] {
  return [`${pod}${rest}`, `${pod}/:uid${rest}`];
}

function tunnelRoute(
  path: string,
  find: (asked: Asked) => Observable<Found>,
  urlOf: (asked: Asked, found: Entered) => Wanted,
): Route {
  return {
    path,
    methods: ['GET', 'POST'],
    access: 'node',
    answer: ({ response }) =>
      send(response, { status: 400, text: 'this is for connections that are upgraded to WebSocket or SPDY/3.1' }),
    upgrade: (upgrade) =>
      defer(() => find(upgrade)).pipe(
        switchMap((found) => {
          if (found.kind === 'refused') return upgrade.refuse(found.status, found.text);
          const wanted = urlOf(upgrade, found);
          return 'problem' in wanted ? upgrade.refuse(400, wanted.problem) : through(upgrade, wanted.url$);
        }),
      ),
  };
}

function through(upgrade: Upgrade, url$: Observable<string>): Observable<never> {
  return url$.pipe(
    map((url) => tunnel(upgrade, url)),
    switchMap((tunnel$) => tunnel$),
    catchError((error: unknown) => upgrade.refuse(statusOf(error), messageOf(error))),
  );
}

function statusOf(error: unknown): number {
  return error instanceof RuntimeError && error.kind === 'notFound' ? 404 : 502;
}

/** The kubelet's names of the ends of a process; a terminal has no error output of its own. */
function endsOf(query: URLSearchParams): Ends | { readonly problem: string } {
  const [stdin, stdout, error, tty] = ['input', 'output', 'error', 'tty'].map((name) => {
    const value = query.get(name);
    return value === '1' || value === 'true';
  });
  const ends = {
    stdin: stdin === true,
    stdout: stdout === true,
    stderr: error === true && tty !== true,
    tty: tty === true,
  };
  return ends.stdin || ends.stdout || ends.stderr ? ends : { problem: 'one of input, output and error must be 1' };
}
