import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY, NEVER, Observable, throwError, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localApi } from '../../../src/server/local-api.ts';
import type { Route } from '../../../src/server/route.ts';
import { send } from '../../../src/server/send.ts';

let folder = '';
let socket = '';
let server: Subscription | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-upgrade-'));
  socket = join(folder, 'rxlet.sock');
});

afterEach(() => {
  server?.unsubscribe();
  rmSync(folder, { recursive: true });
});

const ROUTES: readonly Route[] = [
  { path: '/plain', access: 'node', answer: ({ response }) => send(response, { status: 200, text: 'plain' }) },
  {
    path: '/echo/:name',
    methods: ['GET', 'POST'],
    access: 'node',
    answer: ({ response }) => send(response, { status: 400, text: 'wants an upgrade' }),
    upgrade: ({ socket: client, head, params, query, refuse }) => {
      if (params['name'] === 'nobody') return refuse(404, 'there is nobody of that name');
      if (params['name'] === 'broken') return throwError(() => new Error('broken'));
      client.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`);
      client.write(`${params['name'] ?? ''}?${query.toString()}:`);
      client.write(head);
      client.pipe(client);
      return NEVER;
    },
  },
];

function serve(routes: readonly Route[] = ROUTES): Promise<void> {
  return new Promise((done, fail) => {
    server = localApi({ socket, routes }).subscribe({
      next: () => {
        done();
      },
      error: fail,
    });
  });
}

function ask(path: string, rest = ''): Socket {
  const connection = connect(socket);
  connection.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n${rest}`);
  return connection;
}

/** Everything that is heard until the connection has ended. */
async function all(connection: Socket): Promise<string> {
  let text = '';
  for await (const chunk of connection) text += String(chunk);
  return text;
}

describe('an upgrade', () => {
  it('gets the connection, and what the client has sent already', async () => {
    await serve();
    const connection = ask('/echo/web?x=1', 'early ');
    connection.end('late');
    expect(await all(connection)).toMatch(/^HTTP\/1.1 101 [^]*\r\n\r\nweb\?x=1:early late$/);
  });

  it('is refused in plain words by its handler, and hung up on', async () => {
    await serve();
    expect(await all(ask('/echo/nobody'))).toMatch(/^HTTP\/1.1 404 [^]*there is nobody of that name\n$/);
  });

  it('is told when its handler breaks', async () => {
    await serve();
    expect(await all(ask('/echo/broken'))).toMatch(/^HTTP\/1.1 500 /);
  });

  it('is refused on a path that does not exist', async () => {
    await serve();
    expect(await all(ask('/nothing'))).toMatch(/^HTTP\/1.1 404 /);
    expect(await all(ask('/echo/../plain'))).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is not heard where there is nothing to upgrade to', async () => {
    await serve([{ path: '/plain', methods: ['POST'], access: 'node', answer: ROUTES[0]?.answer ?? (() => EMPTY) }]);
    expect(await all(ask('/plain'))).toMatch(/^HTTP\/1.1 200 [^]*plain\n$/);
  });

  it('ends with its client, and its connection with the server', async () => {
    let open = 0;
    await serve([
      {
        path: '/held',
        methods: ['POST'],
        access: 'node',
        answer: () => EMPTY,
        upgrade: ({ socket: client }) =>
          new Observable<never>(() => {
            open += 1;
            client.on('end', () => client.end()).resume();
            client.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
            return () => {
              open -= 1;
            };
          }),
      },
    ]);
    const first = ask('/held');
    const second = ask('/held');
    await Promise.all([first, second].map((each) => new Promise((done) => each.once('data', done))));
    expect(open).toBe(2);
    first.destroy();
    await expect.poll(() => open, { timeout: 30_000 }).toBe(1);
    const ended = new Promise((done) => second.on('close', done).on('error', () => undefined));
    server?.unsubscribe();
    await ended;
    expect(open).toBe(0);
  });
});
