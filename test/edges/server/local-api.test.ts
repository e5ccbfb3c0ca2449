import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get, request, type IncomingMessage } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, firstValueFrom, NEVER, Observable, of, ReplaySubject, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localApi } from '../../../src/server/local-api.ts';
import { EMPTY_EVENT_LOG, recordEvent } from '../../../src/streams/events/event-log.ts';
import { viewRoutes } from '../../../src/server/view-routes.ts';
import { SocketError } from '../../../src/server/listen-on-socket.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from '../../unit/cli/commands/views.ts';

const OF = { uid: 'u' as PodUid, name: 'web', namespace: 'default' };
const EVENTS = [1_000, 2_000].reduce(
  (log, at) =>
    recordEvent(
      log,
      { of: OF, note: { level: 'Normal', reason: 'Started', message: 'Container started', container: 'web' } },
      at,
    ),
  EMPTY_EVENT_LOG,
);

let folder = '';
let socket = '';
let running: Subscription[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-api-'));
  socket = join(folder, 'run/rxlet.sock');
  running = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true });
});

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Starts the API and waits until it listens. */
function serve(view$: Observable<NodeView>): Promise<Subscription> {
  return new Promise((done, fail) => {
    const subscription = localApi({ socket, routes: viewRoutes({ view$, events$: of(EVENTS) }) }).subscribe({
      next: () => {
        done(subscription);
      },
      error: fail,
    });
    running.push(subscription);
  });
}

function fetchPath(path: string, method = 'GET'): Promise<Reply> {
  return new Promise((done, fail) => {
    const call = request({ socketPath: socket, path, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        done({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body });
      });
    });
    call.on('error', fail);
    call.end();
  });
}

function watch(): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    get({ socketPath: socket, path: '/rxlet/watch', agent: false }, done).on('error', fail);
  });
}

/** The lines that a watcher has received so far, as views. */
function collect(response: IncomingMessage): readonly NodeView[] {
  const views: NodeView[] = [];
  let rest = '';
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  response.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    views.push(...lines.map((line) => JSON.parse(line) as NodeView));
  });
  return views;
}

/** Sends raw bytes and waits for the answer's first line. */
function sendRaw(text: string): Promise<string> {
  return new Promise((done, fail) => {
    const connection = connect(socket, () => connection.write(text));
    let answer = '';
    connection.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    connection.on('close', () => {
      done(answer.split('\r\n')[0] ?? '');
    });
    connection.on('error', fail);
  });
}

function versioned(version: string, padding = ''): NodeView {
  return { ...NODE, runtime: { ...NODE.runtime, version, message: padding } };
}

const web = podView('default/web', ['app'], {
  status: { phase: 'Running', containerStatuses: [containerStatus('app', { running: {} })] },
});
const problem = { source: 'file', origin: '/m/x.yaml', position: { line: 3, column: 1 }, message: 'bad' } as const;

describe('localApi', () => {
  it('listens where only root may connect, and makes the folder', async () => {
    await serve(NEVER);
    expect(statSync(socket).isSocket()).toBe(true);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  it('serves health, pods, problems and the view', async () => {
    const view: NodeView = { ...NODE, pods: [web], problems: [problem] };
    await serve(new BehaviorSubject(view));
    expect(await fetchPath('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(JSON.parse((await fetchPath('/rxlet/view')).body)).toEqual(view);
    expect(JSON.parse((await fetchPath('/rxlet/problems?x=1')).body)).toEqual([problem]);
    expect(JSON.parse((await fetchPath('/rxlet/events')).body)).toEqual([
      {
        of: OF,
        type: 'Normal',
        reason: 'Started',
        message: 'Container started',
        fieldPath: 'spec.containers{web}',
        count: 2,
        firstAt: 1_000,
        lastAt: 2_000,
      },
    ]);

    const pods = await fetchPath('/pods');
    expect(pods.type).toBe('application/json');
    expect(JSON.parse(pods.body)).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [{ metadata: web.pod.metadata, spec: web.pod.spec, status: web.status }],
    });
  });

  it('#29: reports a relist that is stuck as bad health, and names the call that is not answered', async () => {
    await serve(new BehaviorSubject({ ...NODE, plegHealthy: false, plegMessage: 'ListContainers: no answer' }));
    expect(await fetchPath('/healthz')).toMatchObject({
      status: 500,
      body: expect.stringContaining('syncloop failed: ListContainers: no answer') as string,
    });
  });

  it('answers from the newest view', async () => {
    const view$ = new BehaviorSubject(versioned('1'));
    await serve(view$);
    view$.next(versioned('2'));
    expect((JSON.parse((await fetchPath('/rxlet/view')).body) as NodeView).runtime.version).toBe('2');
  });

  it('waits for the first view', async () => {
    const view$ = new ReplaySubject<NodeView>(1);
    await serve(view$);
    const answer = fetchPath('/rxlet/view');
    await vi.waitFor(() => {
      expect(view$.observed).toBe(true);
    }, 30_000);
    view$.next(NODE);
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('refuses other paths and methods, and goes on', async () => {
    await serve(new BehaviorSubject(NODE));
    expect(await fetchPath('/nothing')).toMatchObject({ status: 404 });
    expect(await fetchPath('/__proto__')).toMatchObject({ status: 404 });
    expect(await fetchPath('/pods', 'POST')).toMatchObject({ status: 405 });
    expect(await fetchPath('/healthz')).toMatchObject({ status: 200 });
  });

  it('survives malformed and oversized requests', async () => {
    await serve(new BehaviorSubject(NODE));
    expect(await sendRaw('hello?\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request');
    expect(await sendRaw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(64 * 1024)}\r\n\r\n`)).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large',
    );
    expect(await fetchPath('/healthz')).toMatchObject({ status: 200 });
  });

  it('answers 503 when the view fails, and goes on', async () => {
    await serve(
      new Observable((observer) => {
        observer.error(new Error('broken'));
      }),
    );
    expect(await fetchPath('/pods')).toMatchObject({ status: 503 });
    expect(await fetchPath('/pods')).toMatchObject({ status: 503 });
  });

  it('sends the newest view to a watcher at once, then each change', async () => {
    const view$ = new BehaviorSubject(versioned('1'));
    await serve(view$);
    const views = collect(await watch());
    await vi.waitFor(() => {
      expect(views.map(({ runtime }) => runtime.version)).toEqual(['1']);
    }, 30_000);
    view$.next(versioned('2'));
    await vi.waitFor(() => {
      expect(views.map(({ runtime }) => runtime.version)).toEqual(['1', '2']);
    }, 30_000);
  });

  it('stops listening to the view when its watcher goes', async () => {
    const view$ = new BehaviorSubject(NODE);
    await serve(view$);
    const response = await watch();
    expect(view$.observed).toBe(true);
    response.destroy();
    await vi.waitFor(() => {
      expect(view$.observed).toBe(false);
    }, 30_000);
    expect(await fetchPath('/healthz')).toMatchObject({ status: 200 });
  });

  it('gives a slow watcher the newest view, without storing those between', async () => {
    const big = 'x'.repeat(256 * 1024);
    const view$ = new BehaviorSubject(versioned('0', big));
    await serve(view$);
    const response = await watch();
    response.pause();
    for (let version = 1; version <= 200; version += 1) view$.next(versioned(String(version), big));

    const views = collect(response);
    response.resume();
    await vi.waitFor(() => {
      expect(views.at(-1)?.runtime.version).toBe('200');
    }, 60_000);
    expect(views.length).toBeLessThan(20);
  });

  it('does not let a slow watcher hold up another one', async () => {
    const view$ = new BehaviorSubject(versioned('0', 'x'.repeat(1024 * 1024)));
    await serve(view$);
    const slow = await watch();
    slow.pause();
    const views = collect(await watch());
    view$.next(versioned('1'));
    await vi.waitFor(() => {
      expect(views.at(-1)?.runtime.version).toBe('1');
    }, 30_000);
    slow.destroy();
  });

  it('hangs up and removes its socket when it is no longer wanted', async () => {
    const view$ = new BehaviorSubject(NODE);
    const subscription = await serve(view$);
    const response = await watch();
    const ended = new Promise((done) =>
      response
        .on('close', done)
        .on('error', () => undefined)
        .resume(),
    );
    subscription.unsubscribe();
    await ended;
    expect(view$.observed).toBe(false);
    expect(existsSync(socket)).toBe(false);
  });

  it('replaces a socket that a dead agent left', async () => {
    const first = await serve(new BehaviorSubject(versioned('old')));
    // Killed agents do not tidy up: leave a socket file that nobody listens on.
    first.unsubscribe();
    await leaveStaleSocket(socket);
    expect(existsSync(socket)).toBe(true);
    await serve(new BehaviorSubject(versioned('new')));
    expect((await fetchPath('/rxlet/view')).body).toContain('"new"');
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  it('refuses to start beside a living agent, which is not disturbed', async () => {
    await serve(new BehaviorSubject(versioned('first')));
    await expect(firstValueFrom(localApi({ socket, routes: [] }))).rejects.toThrow(
      `cannot listen on ${socket}: another agent answers on it`,
    );
    expect((await fetchPath('/rxlet/view')).body).toContain('"first"');
  });

  it('does not remove what is not a socket', async () => {
    socket = join(folder, 'file');
    writeFileSync(socket, 'precious');
    await expect(firstValueFrom(localApi({ socket, routes: [] }))).rejects.toThrow(SocketError);
    expect(statSync(socket).size).toBe(8);
  });

  it('errors when the folder cannot be made', async () => {
    writeFileSync(join(folder, 'run'), '');
    await expect(firstValueFrom(localApi({ socket, routes: [] }))).rejects.toThrow(/cannot listen on .*EEXIST|ENOTDIR/);
  });
});

/** Binds a socket and moves the file away from its server, so that closing cannot remove it. */
async function leaveStaleSocket(path: string): Promise<void> {
  const server = createServer((connection: Socket) => connection.destroy());
  await new Promise<void>((done) => server.listen(`${path}.old`, done));
  renameSync(`${path}.old`, path);
  chmodSync(path, 0o755);
  await new Promise((done) => server.close(done));
}
