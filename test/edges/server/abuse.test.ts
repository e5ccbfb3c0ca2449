import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { of, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localApi } from '../../../src/server/local-api.ts';
import { viewRoutes } from '../../../src/server/view-routes.ts';
import { NODE } from '../../unit/cli/commands/views.ts';
import { EMPTY_EVENT_LOG } from '../../../src/streams/events/event-log.ts';

let folder = '';
let path = '';
let server: Subscription | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-abuse-'));
  path = join(folder, 'rxlet.sock');
  await new Promise<void>((done, fail) => {
    const routes = viewRoutes({ view$: of(NODE), events$: of(EMPTY_EVENT_LOG) });
    server = localApi({ socket: path, routes }).subscribe({
      next: () => {
        done();
      },
      error: fail,
    });
  });
});

afterEach(() => {
  server?.unsubscribe();
  rmSync(folder, { recursive: true });
});

function client(): Socket {
  const socket = connect(path);
  socket.on('error', () => undefined);
  return socket;
}

/** The first line of what comes back before the server hangs up. */
async function answerTo(text: string): Promise<string> {
  const socket = client();
  socket.write(text);
  return firstLine(socket);
}

function firstLine(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    socket.on('close', () => {
      done(heard.split('\r\n')[0] ?? '');
    });
  });
}

async function isWell(): Promise<void> {
  expect(await answerTo('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toBe('HTTP/1.1 200 OK');
}

const CLOSE = 'host: x\r\nconnection: close\r\n';

describe('a server that is abused', () => {
  it.each([
    ['a path that climbs', `GET /../../etc/passwd HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['a path that climbs in disguise', `GET /pods/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['a path with an end of its own', `GET /pods%00.txt HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['the address of another server', `GET http://example.com/pods HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${CLOSE}\r\n`, 0],
    ['no HTTP', 'hello?\r\n\r\n', 400],
    ['two lengths', `POST /pods HTTP/1.1\r\n${CLOSE}content-length: 1\r\ncontent-length: 2\r\n\r\nx`, 400],
    [
      'a length and chunks',
      `POST /pods HTTP/1.1\r\n${CLOSE}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a body that is announced too large', `POST /pods HTTP/1.1\r\n${CLOSE}content-length: 9999999999\r\n\r\n`, 413],
    ['a large header', `GET /pods HTTP/1.1\r\n${CLOSE}x: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a flood of headers', `GET /pods HTTP/1.1\r\n${CLOSE}${'a: b\r\n'.repeat(10_000)}\r\n`, 431],
    ['an upgrade to nothing', 'GET /pods HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: \u0001\r\n\r\n', 400],
    [
      'an upgrade that is not spoken here',
      'GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      404,
    ],
  ])('answers %s as it deserves, and is well', async (_what, text, status) => {
    const line = await answerTo(text);
    expect(line === '' ? 0 : Number(line.split(' ')[1])).toBe(status);
    await isWell();
  });

  it('takes no body without end', async () => {
    const socket = client();
    const ended = firstLine(socket);
    socket.write('POST /pods HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    let sent = 0;
    const feed = (): void => {
      while (!socket.destroyed && sent < 100_000_000 && socket.write(chunk)) sent += chunk.length;
    };
    socket.on('drain', feed);
    feed();
    await ended;
    expect(sent).toBeLessThan(50_000_000);
    await isWell();
  });

  it('hangs up on who sends headers drop by drop', async () => {
    const slow = client();
    slow.write('GET /pods HTTP/1.1\r\nhost: x\r\n');
    const drip = setInterval(() => slow.write('x: y\r\n'), 200);
    try {
      const line = firstLine(slow);
      await isWell();
      expect(await line).toBe('HTTP/1.1 408 Request Timeout');
    } finally {
      clearInterval(drip);
    }
  });

  it('keeps no connection of who says nothing, and serves others again after a crowd', async () => {
    const crowd = Array.from({ length: 400 }, () => client());
    // Beyond 256 they are hung up on at once; the others in time.
    const gone = crowd.map((socket) => firstLine(socket.resume()));
    await Promise.all(gone);
    await isWell();
  });
});
