import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { of, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';
import { streamClient } from '../../../../src/cli/stream-client.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import type { Route } from '../../../../src/server/route.ts';
import { send } from '../../../../src/server/send.ts';
import { streamRoutes } from '../../../../src/server/stream-routes.ts';
import { viewRoutes } from '../../../../src/server/view-routes.ts';
import { EMPTY_EVENT_LOG } from '../../../../src/streams/events/event-log.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from '../../../unit/cli/commands/views.ts';
import { spdyRuntime, type OpenedStream, type SpdyRuntime } from './spdy-runtime.ts';

const status = {
  containerStatuses: [
    containerStatus('app', { running: {} }, { containerID: 'containerd://c1' }),
    containerStatus('job', { waiting: { reason: 'CrashLoopBackOff' } }, {}),
  ],
};
const VIEW: NodeView = {
  ...NODE,
  pods: [podView('default/web-n1', ['app', 'job'], { spec: { nodeName: 'n1' }, status })],
};

let folder = '';
let socket = '';
let running: Subscription[] = [];
let runtime: SpdyRuntime;
let logsOf: Readonly<Record<string, string>> = {};
let askedLogs: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-bytes-'));
  socket = join(folder, 'rxlet.sock');
  running = [];
  logsOf = {};
  askedLogs = [];
});

afterEach(async () => {
  for (const each of running) each.unsubscribe();
  for (const connection of runtime.connections) connection.destroy();
  await new Promise((done) => runtime.server.close(done));
  rmSync(folder, { recursive: true });
});

/** An agent whose runtime does with streams as the test says. */
async function start(onStream?: (stream: OpenedStream) => void): Promise<void> {
  runtime = spdyRuntime(onStream);
  await new Promise<void>((done) => runtime.server.listen(0, '127.0.0.1', done));
  const url = of(`http://127.0.0.1:${(runtime.server.address() as AddressInfo).port}/token`);
  const log: Route = {
    path: '/containerLogs/:namespace/:pod/:container',
    access: 'node',
    answer: ({ response, params, request }) => {
      askedLogs.push(request.url ?? '');
      const text = logsOf[params['container'] ?? ''];
      return send(response, text === undefined ? { status: 400, text: 'has not started yet' } : { status: 200, text });
    },
  };
  const view$ = of(VIEW);
  const routes = [
    ...viewRoutes({ view$, events$: of(EMPTY_EVENT_LOG) }),
    ...streamRoutes({ view$, exec: () => url, attach: () => url, portForward: () => url, run: () => of({}) }),
    log,
  ];
  await new Promise((done, fail) => {
    running.push(localApi({ socket, routes }).subscribe({ next: done, error: fail }));
  });
}

interface Said {
  out: string;
  err: string;
  text: string;
  exitCode: number | undefined;
  error: CliError | undefined;
  isOver: boolean;
  readonly stdin: PassThrough;
  readonly end: () => void;
}

function rxlet(line: string, output?: Writable): Said {
  const command = parseCommandLine(
    [...line.split(' '), '--socket', socket].toSorted((a, b) => Number(a === '--') - Number(b === '--')),
  );
  if (command.kind !== 'logs' && command.kind !== 'exec' && command.kind !== 'portForward')
    throw new Error(JSON.stringify(command));
  const stdin = new PassThrough();
  const said: Said = {
    ...{ out: '', err: '', text: '', exitCode: undefined, error: undefined, isOver: false, stdin },
    end: () => {
      subscription.unsubscribe();
    },
  };
  const gather = (end: 'out' | 'err'): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        said[end] += chunk.toString();
        done();
      },
    });
  const standard = { stdin: () => stdin, stdout: output ?? gather('out'), stderr: gather('err') };
  const subscription = streamClient(command, { ...standard, exitWith: (code) => (said.exitCode = code) }).subscribe({
    next: (text) => (said.text += text),
    error: (error: unknown) => (said.error = error as CliError),
    complete: () => (said.isOver = true),
  });
  running.push(subscription);
  return said;
}

async function whenOpen(...types: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    for (const type of types) runtime.stream(type);
  }, 60_000);
}

async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, 60_000);
}

const SUCCESS = JSON.stringify({ status: 'Success' });

describe('rxlet exec, with a runtime that speaks SPDY', () => {
  it('ends with the exit code, once all output is written', async () => {
    await start();
    const said = rxlet('exec web -c app ls');
    await whenOpen('stdout', 'stderr', 'error');
    expect(runtime.protocols).toEqual(['v4.channel.k8s.io']);
    expect(runtime.streams.map(({ type }) => type).toSorted()).toEqual(['error', 'stderr', 'stdout']);
    const causes = [{ reason: 'ExitCode', message: '7' }];
    runtime.stream('error').say(JSON.stringify({ status: 'Failure', message: 'exit 7', details: { causes } }));
    runtime.stream('error').end();
    runtime.stream('stderr').end();
    runtime.stream('stdout').say('late');
    runtime.stream('stdout').reset();
    await eventually(() => {
      expect(said).toMatchObject({ out: 'late', err: '', exitCode: 7, isOver: true });
    });
    await eventually(() => {
      expect(runtime.connections[0]?.destroyed === true || runtime.connections[0]?.readableEnded === true).toBe(true);
    });
  });

  it('says nothing on a stream that was not taken yet, and passes on the end of the input', async () => {
    await start(() => undefined);
    const said = rxlet('exec web -c app -i cat');
    said.stdin.end('all of it');
    await whenOpen('stdin');
    runtime.ping(2);
    await eventually(() => {
      expect(runtime.pongs).toEqual([2]);
    });
    expect([runtime.stream('stdin').heard(), runtime.stream('stdin').hasEnded()]).toEqual(['', false]);
    runtime.stream('stdin').reply();
    await eventually(() => {
      expect([runtime.stream('stdin').heard(), runtime.stream('stdin').hasEnded()]).toEqual(['all of it', true]);
    });
    expect(said.isOver).toBe(false);
  });

  it('tells why a command could not be run', async () => {
    await start();
    const said = rxlet('exec web -c app nothing');
    await whenOpen('stdout', 'stderr', 'error');
    runtime.stream('error').say(JSON.stringify({ status: 'Failure', message: 'executable not found' }));
    for (const stream of runtime.streams) stream.reset();
    await eventually(() => {
      expect(said).toMatchObject({ err: 'rxlet: executable not found\n', exitCode: 1, isOver: true });
    });
  });

  it('does not take a connection that breaks off for an end', async () => {
    await start();
    const said = rxlet('exec web -c app sleep');
    await whenOpen('stdout', 'stderr', 'error');
    (runtime.connections[0] as Socket).resetAndDestroy();
    await eventually(() => {
      expect(said.error).toMatchObject({ exitCode: 4, message: expect.stringContaining('broke off') as string });
    });
  });

  it('ends as shells do what was interrupted, and hangs up', async () => {
    await start();
    const said = rxlet('exec web -c app sleep');
    await whenOpen('stdout', 'stderr', 'error');
    said.end();
    expect(said.exitCode).toBe(130);
    await eventually(() => {
      expect(runtime.connections[0]?.destroyed === true || runtime.connections[0]?.readableEnded === true).toBe(true);
    });
  });

  it('loses nothing to a slow reader, and makes the runtime wait for it', async () => {
    await start();
    let seen = 0;
    let goOn: (() => void) | undefined;
    let isSlow = true;
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        seen += chunk.length;
        if (isSlow) goOn = done;
        else done();
      },
    });
    const said = rxlet('exec web -c app yes', slow);
    await whenOpen('stdout', 'stderr', 'error');
    const piece = Buffer.alloc(1024 * 1024, 'y');
    const pieces = 64;
    for (let count = 0; count < pieces; count += 1) runtime.stream('stdout').say(piece);
    await eventually(() => {
      expect(seen).toBeGreaterThan(0);
    });
    expect(runtime.connections[0]?.writableLength).toBeGreaterThan(piece.length);
    runtime.stream('error').say(SUCCESS);
    for (const stream of runtime.streams) stream.reset();
    isSlow = false;
    goOn?.();
    await eventually(() => {
      expect(said.isOver).toBe(true);
    });
    expect(seen).toBe(pieces * piece.length);
  });

  it('gives up -t where standard input is no terminal', async () => {
    await start();
    const said = rxlet('exec web -c app -it sh');
    await whenOpen('stdout', 'stderr', 'error');
    expect(said.err).toContain('standard input is no terminal');
    expect(runtime.streams.some(({ type }) => type === 'resize')).toBe(false);
  });

  it('says what to do where it is refused', async () => {
    await start();
    const [job, none, lost] = [rxlet('exec web -c job ls'), rxlet('attach web -c db'), rxlet('exec web -c app ls')];
    await eventually(() => {
      expect(job.error).toMatchObject({ exitCode: 2, message: 'container job is not running: CrashLoopBackOff' });
      expect(none.error).toMatchObject({ exitCode: 2, hint: 'It has app, job: say which one with -c.' });
    });
    lost.end();
    socket = join(folder, 'nobody');
    const alone = rxlet('exec web ls');
    await eventually(() => {
      expect(alone.error).toMatchObject({ exitCode: 4, hint: expect.stringContaining('rxlet run') as string });
    });
  });
});

describe('rxlet port-forward', () => {
  async function dial(said: Said): Promise<Socket> {
    await eventually(() => {
      expect(said.text).toMatch(/:\d+ -> /);
    });
    const client = connect(Number(/:(\d+) -> /.exec(said.text)?.[1]), '127.0.0.1');
    client.on('error', () => undefined);
    return client;
  }

  it('passes on both directions, and that one of them has ended', async () => {
    await start();
    const said = rxlet('port-forward web :80');
    const client = await dial(said);
    let heard = '';
    client.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    client.end('question');
    await whenOpen('data', 'error');
    expect(runtime.stream('data').headers).toEqual({ streamtype: 'data', port: '80', requestid: '0' });
    expect(runtime.protocols).toEqual(['portforward.k8s.io']);
    await eventually(() => {
      expect([runtime.stream('data').heard(), runtime.stream('data').hasEnded()]).toEqual(['question', true]);
    });
    runtime.stream('data').say('answer');
    runtime.stream('data').end();
    runtime.stream('error').end();
    await eventually(() => {
      expect(heard).toBe('answer');
      expect(client.destroyed).toBe(true);
    });
    expect(said).toMatchObject({ isOver: false, err: '' });
  });

  it('tells what is wrong with one connection, and goes on with others', async () => {
    await start();
    const said = rxlet('port-forward web :80');
    const client = await dial(said);
    await whenOpen('data', 'error');
    runtime.stream('error').say('dial tcp4 127.0.0.1:80: connect: connection refused');
    for (const stream of runtime.streams) stream.end();
    await eventually(() => {
      expect(said.err).toBe('rxlet: port 80: nothing in the pod listens there\n');
      expect(client.destroyed).toBe(true);
    });
    (await dial(said)).write('again');
    await eventually(() => {
      expect(
        runtime.streams
          .filter(({ type }) => type === 'data')
          .at(-1)
          ?.heard(),
      ).toBe('again');
    });
    expect(said.error).toBeUndefined();
  });

  it('says what to do where a port is taken', async () => {
    await start();
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const said = rxlet(`port-forward web ${(other.address() as AddressInfo).port}:80`);
    await eventually(() => {
      expect(said.error).toMatchObject({
        exitCode: 3,
        hint: expect.stringContaining(':80 for any free one') as string,
      });
    });
    other.close();
  });
});

describe('rxlet logs', () => {
  it('asks for what was asked for', async () => {
    await start();
    logsOf = { app: 'one\ntwo\n' };
    const said = rxlet(
      'logs -f --tail 2 --since 5m --timestamps --limit-bytes 100 --since-time 2026-01-01T00:00:00Z web',
    );
    await eventually(() => {
      expect(said).toMatchObject({ out: 'one\ntwo\n', isOver: true });
    });
    const query = new URLSearchParams(askedLogs[0]?.split('?')[1]);
    expect(Object.fromEntries(query)).toEqual({
      ...{ follow: 'true', timestamps: 'true', tailLines: '2', sinceSeconds: '300', limitBytes: '100' },
      sinceTime: '2026-01-01T00:00:00Z',
    });
    expect(said.err).toBe('Container app of app, job; -c names another.\n');
  });

  it('shows those of all containers line by line, and tells which ones have none', async () => {
    await start();
    logsOf = { app: 'one\ntwo' };
    const said = rxlet('logs --all-containers --prefix web');
    await eventually(() => {
      expect(said.isOver).toBe(true);
    });
    expect(said.out).toBe('[web-n1/app] one\n[web-n1/app] two\n');
    expect(said.err).toBe('rxlet: has not started yet\n');
  });

  it('says what to do where there is none', async () => {
    await start();
    const said = rxlet('logs --previous web app');
    await eventually(() => {
      expect(said.error).toMatchObject({ exitCode: 2, message: 'has not started yet' });
    });
    expect(said.error?.hint).toContain('--previous');
  });
});
