import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, lastValueFrom, Observable, Subject, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeHttp } from '../../../../src/host/http/node-http.ts';
import { runHook, type LifecycleHandler } from '../../../../src/runtime/lifecycle-hook.ts';
import type { HttpRequest } from '../../../../src/streams/ports/http.ts';
import { fakeCri } from '../../../marbles/fakes.ts';

const http = nodeHttp();
const servers: { readonly close: () => unknown }[] = [];
const folders: string[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  return listen(createServer(answer));
}

function request(port: number, more: Partial<HttpRequest> = {}): HttpRequest {
  return { scheme: 'http', host: '127.0.0.1', port, path: '/', headers: [], ...more };
}

const status = (of: HttpRequest): Promise<readonly number[]> => lastValueFrom(http.get(of).pipe(toArray()));

describe('nodeHttp', () => {
  it.each([200, 302, 404, 503])('tells the status %d once, and completes', async (code) => {
    const port = await serve((_request, response) => response.writeHead(code, { location: '/elsewhere' }).end());
    await expect(status(request(port))).resolves.toEqual([code]);
  });

  it('sends path, query and headers as they are, repeated ones too, and asks to close', async () => {
    const seen: IncomingMessage[] = [];
    const port = await serve((asked, response) => {
      seen.push(asked);
      response.end();
    });
    const headers = [
      ['X-A', '1'],
      ['X-A', '2'],
      ['User-Agent', 'kube-lifecycle/1.36'],
      ['Host', 'web.test'],
    ] as const;
    await status(request(port, { path: '/drain?now=1', headers }));
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/drain?now=1',
      headers: { 'x-a': '1, 2', 'user-agent': 'kube-lifecycle/1.36', host: 'web.test', connection: 'close' },
    });
  });

  it('does not wait for a body that never ends, and closes its connection', async () => {
    const closed = new Subject<undefined>();
    const isClosed = firstValueFrom(closed);
    const port = await serve((_asked, response) => {
      response.on('close', () => {
        closed.next(undefined);
      });
      response.writeHead(200);
      response.write('the first part');
    });
    await expect(status(request(port))).resolves.toEqual([200]);
    await isClosed;
  });

  it('errors when nobody listens', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(status(request(port))).rejects.toThrow(/ECONNREFUSED/);
  });

  it('errors when it is hung up on without an answer', async () => {
    const port = await listen(createTcpServer((socket) => socket.destroy()));
    await expect(status(request(port))).rejects.toThrow(/hang up|ECONNRESET/);
  });

  it('hangs up when nobody listens to it any more', async () => {
    const connections = new Subject<Socket>();
    const connected = firstValueFrom(connections);
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        connections.next(socket);
      }),
    );
    const asking = http.get(request(port)).subscribe({ error: () => undefined });
    const socket = await connected;
    const gone = new Promise((resolve) => socket.resume().once('close', resolve));
    asking.unsubscribe();
    await gone;
  });

  it('sends nothing before somebody subscribes, and once for each who does', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.end();
    });
    const get$ = http.get(request(port));
    expect(get$).toBeInstanceOf(Observable);
    expect(asked).toBe(0);
    await lastValueFrom(get$);
    await lastValueFrom(get$);
    expect(asked).toBe(2);
  });

  it('errors, and does not throw, for what cannot be sent', async () => {
    await expect(status(request(1, { path: '/a b' }))).rejects.toThrow(/unescaped/);
    await expect(status(request(1, { headers: [['X Y', '1']] }))).rejects.toThrow(/token/);
  });

  it('speaks TLS, whoever signed the certificate', async () => {
    const port = await listen(createTlsServer(selfSigned(), (_request, response) => response.writeHead(204).end()));
    await expect(status(request(port, { scheme: 'https' }))).resolves.toEqual([204]);
  });

  it('lets a hook by https fall back to http where that is what is spoken', async () => {
    const port = await serve((_request, response) => response.end());
    const handler = { httpGet: { scheme: 'HTTPS', port } } as unknown as LifecycleHandler;
    const target = { containerId: 'c', container: { name: 'main' }, podIp: '127.0.0.1' };
    const hook$ = runHook(handler, target, { cri: fakeCri([]), http });
    await expect(lastValueFrom(hook$)).resolves.toMatchObject({ reason: 'LifecycleHTTPFallback' });
  });

  it('leaves no connection open after a hundred requests', async () => {
    const server = createServer((_request, response) => response.end('x'.repeat(100_000)));
    const port = await listen(server);
    await Promise.all(Array.from({ length: 100 }, () => status(request(port))));
    await expect.poll(() => countConnections(server)).toBe(0);
  });
});

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

function selfSigned(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rxlet-tls-'));
  folders.push(folder);
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=elsewhere'];
  execFileSync('openssl', [...make, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}
