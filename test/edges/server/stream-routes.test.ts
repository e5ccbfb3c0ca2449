import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { BehaviorSubject, of, throwError, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import { localApi } from '../../../src/server/local-api.ts';
import { streamRoutes, type StreamRoutesConfig } from '../../../src/server/stream-routes.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from '../../unit/cli/commands/views.ts';
import { PATIENT } from '../../patience.ts';

const POD = podView('default/web', ['web', 'job'], {
  status: {
    containerStatuses: [
      containerStatus('web', { running: {} }, { containerID: 'containerd://c1' }),
      containerStatus('job', { terminated: { exitCode: 0, reason: 'Completed' } }, { containerID: 'containerd://c2' }),
    ],
  },
});

let folder = '';
let running: Subscription | undefined;
let runtime: Server;
let heard: IncomingMessage[] = [];
/** What the runtime does with a connection that it has taken. */
let serveStream: (connection: Duplex) => void;
let asked: unknown[] = [];
/** Connections that the runtime has taken. */
let connections: Duplex[] = [];
let overrides: Partial<StreamRoutesConfig> = {};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-streams-'));
  heard = [];
  connections = [];
  asked = [];
  overrides = {};
  serveStream = (connection) => connection.pipe(connection);
  runtime = createServer((message, response) => {
    heard.push(message);
    response.writeHead(403, { 'content-type': 'text/plain' }).end('no such token');
  });
  runtime.on('upgrade', (message: IncomingMessage, connection: Duplex, head: Buffer) => {
    heard.push(message);
    connections.push(connection);
    connection.on('error', () => undefined);
    connection.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\nX-Chosen: v4\r\n\r\n',
    );
    connection.unshift(head);
    serveStream(connection);
  });
  await new Promise<void>((done) => runtime.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  running?.unsubscribe();
  for (const connection of connections) connection.destroy();
  runtime.closeAllConnections();
  await new Promise((done) => runtime.close(done));
  rmSync(folder, { recursive: true });
});

function url(path: string): string {
  return `http://127.0.0.1:${(runtime.address() as AddressInfo).port}${path}`;
}

function serve(): Promise<void> {
  const view: NodeView = { ...NODE, pods: [POD] };
  const routes = streamRoutes({
    view$: new BehaviorSubject(view),
    exec: (...request) => (asked.push(['exec', ...request]), of(url('/exec/token?x=1'))),
    attach: (...request) => (asked.push(['attach', ...request]), of(url('/attach/token'))),
    portForward: (...request) => (asked.push(['portForward', ...request]), of(url('/portforward/token'))),
    run: (...request) => (
      asked.push(['run', ...request]),
      of({ stdout: Buffer.from('out'), stderr: Buffer.from('err') })
    ),
    ...overrides,
  });
  return new Promise((done, fail) => {
    running = localApi({ socket: join(folder, 'socket'), routes }).subscribe({
      next: () => {
        done();
      },
      error: fail,
    });
  });
}

interface Opened {
  readonly answer: IncomingMessage;
  readonly connection: Socket;
  readonly head: Buffer;
}

const HEADERS = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': ['v4', 'v3'] };

function open(path: string, method = 'POST'): Promise<Opened> {
  return new Promise((done, fail) => {
    const call = request({
      socketPath: join(folder, 'socket'),
      path,
      method,
      headers: { ...HEADERS, authorization: 'Bearer secret' },
    });
    call.on('upgrade', (answer, connection, head) => {
      done({ answer, connection: connection, head });
    });
    call.on('response', (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => {
        fail(new Error(`${answer.statusCode ?? 0} ${text.trim()}`));
      });
    });
    call.on('error', fail);
    call.end();
  });
}

async function textOf({ connection, head }: Opened): Promise<string> {
  let text = head.toString();
  for await (const chunk of connection) text += String(chunk);
  return text;
}

const EXEC = '/exec/default/web/web?command=echo&command=a%20b&input=1&output=1&error=1';

describe('a connection to a container', () => {
  it('goes through to the server of the runtime, with its headers and its bytes, in both directions', async () => {
    await serve();
    const opened = await open(EXEC);
    expect(asked).toEqual([['exec', 'c1', ['echo', 'a b'], { stdin: true, stdout: true, stderr: true, tty: false }]]);
    expect(heard[0]).toMatchObject({ method: 'POST', url: '/exec/token?x=1' });
    expect(heard[0]?.headersDistinct['x-stream-protocol-version']).toEqual(['v4', 'v3']);
    expect(heard[0]?.headers.upgrade).toBe('SPDY/3.1');
    expect(opened.answer.headers['x-chosen']).toBe('v4');
    const sent = 'x'.repeat(3_000_000);
    opened.connection.end(sent);
    expect((await textOf(opened)).length).toBe(sent.length);
  });

  it('tells the runtime nothing of who the client is', async () => {
    await serve();
    const { connection } = await open(EXEC);
    expect(heard[0]?.headers.authorization).toBeUndefined();
    connection.destroy();
  });

  it('may end its own direction and hear the other one to its end', async () => {
    serveStream = (connection) => {
      let text = '';
      connection.on('data', (chunk: Buffer) => (text += chunk.toString()));
      connection.on('end', () => connection.end(`heard ${text}`));
    };
    await serve();
    const opened = await open(EXEC);
    opened.connection.end('all of it');
    expect(await textOf(opened)).toBe('heard all of it');
  });

  it('is cut when the runtime breaks off', async () => {
    let taken: Duplex | undefined;
    serveStream = (connection) => (taken = connection);
    await serve();
    const { connection } = await open(EXEC);
    connection.on('error', () => undefined);
    const closed = new Promise((done) => connection.once('close', done));
    connection.resume();
    (taken as Socket | undefined)?.resetAndDestroy();
    await closed;
  });

  it('is cut at the runtime when the client breaks off, or the agent ends', async () => {
    const taken: Duplex[] = [];
    serveStream = (connection) => taken.push(connection.resume());
    await serve();
    (await open(EXEC)).connection.destroy();
    await vi.waitFor(() => {
      expect(taken[0]?.readableEnded === true || taken[0]?.destroyed === true).toBe(true);
    }, PATIENT);
    const { connection } = await open(EXEC);
    connection.on('error', () => undefined);
    running?.unsubscribe();
    await vi.waitFor(() => {
      expect(taken[1]?.readableEnded === true || taken[1]?.destroyed === true).toBe(true);
    }, PATIENT);
  });

  it('gives a terminal no error output', async () => {
    await serve();
    (await open('/attach/default/web/uid-web/web?input=1&output=1&error=1&tty=1', 'GET')).connection.destroy();
    expect(asked).toEqual([['attach', 'c1', { stdin: true, stdout: true, stderr: false, tty: true }]]);
  });

  it('leads to ports of the pod', async () => {
    await serve();
    (await open('/portForward/default/web?port=80&port=443,8080', 'GET')).connection.destroy();
    (await open('/portForward/default/web/uid-web')).connection.destroy();
    expect(asked).toEqual([
      ['portForward', 'uid-web', [80, 443, 8080]],
      ['portForward', 'uid-web', []],
    ]);
  });

  it.each([
    ['/exec/default/web/web?output=1', '400 there is no command'],
    ['/exec/default/web/web?command=ls', '400 one of input, output and error must be 1'],
    ['/exec/default/web/job?command=ls&output=1', '400 container job is not running: Completed'],
    ['/exec/default/web/db?command=ls&output=1', '404 the pod has no container db'],
    ['/exec/default/web/other-uid/web?command=ls&output=1', '404 there is no pod web'],
    ['/attach/default/db/db?output=1', '404 there is no pod db'],
    ['/portForward/default/web?port=0', '400 port must be a number from 1 to 65535'],
    ['/portForward/default/web?port=x', '400 port must be a number from 1 to 65535'],
  ])('to %s is refused: %s', async (path, why) => {
    await serve();
    await expect(open(path)).rejects.toThrow(why);
    expect(heard).toEqual([]);
  });

  it('is refused as the runtime refuses it', async () => {
    runtime.removeAllListeners('upgrade');
    await serve();
    await expect(open(EXEC)).rejects.toThrow('403 no such token');
  });

  it('is refused where the runtime does not know the container any more, or nobody answers there', async () => {
    overrides = {
      exec: () => throwError(() => new RuntimeError('notFound', 'Exec', 'no such container')),
      attach: () => of('http://127.0.0.1:1/attach'),
      portForward: () => of('ftp://127.0.0.1/'),
    };
    await serve();
    await expect(open(EXEC)).rejects.toThrow('404 no such container');
    await expect(open('/attach/default/web/web?output=1')).rejects.toThrow('502 connect ECONNREFUSED');
    await expect(open('/portForward/default/web?port=1')).rejects.toThrow('502 the runtime told an address of ftp:');
  });
});

describe('a request that asks for no upgrade', () => {
  function ask(path: string, method: string): Promise<readonly [number | undefined, string]> {
    return new Promise((done, fail) => {
      const call = request({ socketPath: join(folder, 'socket'), path, method, agent: false }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => {
          done([answer.statusCode, text.trim()]);
        });
      });
      call.on('error', fail);
      call.end();
    });
  }

  it('is told that it needs one', async () => {
    await serve();
    expect(await ask(EXEC, 'GET')).toEqual([400, expect.stringContaining('upgraded to WebSocket or SPDY/3.1')]);
  });

  it('runs a command to its end on /run', async () => {
    await serve();
    expect(await ask('/run/default/web/web?cmd=ls%20-l', 'POST')).toEqual([200, 'outerr']);
    expect(asked).toEqual([['run', 'c1', ['ls', '-l']]]);
    expect(await ask('/run/default/web/web', 'POST')).toEqual([400, expect.stringContaining('there is no command')]);
    expect(await ask('/run/default/web/job?cmd=ls', 'POST')).toEqual([400, 'container job is not running: Completed']);
    expect((await ask('/run/default/web/web?cmd=ls', 'GET'))[0]).toBe(405);
  });
});
