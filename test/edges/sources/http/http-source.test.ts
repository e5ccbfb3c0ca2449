import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom, ReplaySubject, timeout, type Subscription } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Desired } from '../../../../src/model/desired.ts';
import { parseManifestUrl } from '../../../../src/model/manifest/manifest-url.ts';
import { httpSource, type HttpSourceConfig } from '../../../../src/sources/http/http-source.ts';

/** Milliseconds for an answer to show on a slow and busy machine. */
const PATIENCE = 60_000;
const POD = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'one' },
  spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
});
const YAML = `apiVersion: v1\nkind: Pod\nmetadata: {name: two}\nspec: {containers: [{name: main, image: 'busybox:1'}]}\n`;
const NONE = '{"apiVersion": "v1", "kind": "PodList", "items": []}';

const servers: (Server | TcpServer)[] = [];
const running: Subscription[] = [];

afterEach(() => {
  for (const subscription of running.splice(0)) subscription.unsubscribe();
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const text =
  (body: string | Buffer, status = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** A server that answers as it is told at the moment, and keeps what it was asked. */
async function serve(first: Answer) {
  let now = first;
  const asked: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    asked.push(request);
    now(response, request);
  };
  const port = await listen(createServer(listener));
  return {
    asked,
    port,
    url: `http://127.0.0.1:${port}/pods`,
    answer: (next: Answer): void => {
      now = next;
    },
  };
}

function brief({ pods, problems, unheard }: Desired): string {
  const names = pods.map(({ metadata }) => metadata.name.replace('-n1', ''));
  const wrong = problems.map(({ message }) => `! ${message}`);
  return [...(unheard ? ['unheard'] : []), ...names, ...wrong].join(' ');
}

function start(url: string, more: Partial<HttpSourceConfig> = {}) {
  const parsed = parseManifestUrl(url);
  if (!parsed) throw new Error(`no URL: ${url}`);
  const desired$ = new ReplaySubject<Desired>(Number.POSITIVE_INFINITY);
  const values: string[] = [];
  running.push(
    desired$.subscribe({
      next: (desired) => {
        values.push(brief(desired));
      },
      error: (error: unknown) => values.push(`failed: ${String(error)}`),
    }),
  );
  running.push(
    httpSource({ url: parsed, headers: {}, tls: {}, nodeName: 'n1', httpCheckFrequency: 50, ...more }).subscribe(
      desired$,
    ),
  );
  const until = (expected: string | RegExp): Promise<Desired> =>
    firstValueFrom(
      desired$.pipe(
        filter((desired) => {
          const told = brief(desired);
          return values.at(-1) === told && (typeof expected === 'string' ? told === expected : expected.test(told));
        }),
        timeout({
          first: PATIENCE,
          with: () => {
            throw new Error(`waited for ${String(expected)}, had ${values.join(' | ')}`);
          },
        }),
      ),
    );
  return { until, values };
}

describe('httpSource', () => {
  it('#16: takes a Pod, a PodList and several documents, and keeps them over 404, 500, an empty body and a slow server', async () => {
    const server = await serve(text(POD));
    const { until } = start(server.url);
    const { pods } = await until('one');
    expect(pods[0]?.metadata).toMatchObject({
      name: 'one-n1',
      namespace: 'default',
      annotations: { 'kubernetes.io/config.source': 'http' },
    });
    expect(pods[0]?.spec.tolerations ?? []).not.toContainEqual({ operator: 'Exists', effect: 'NoExecute' });

    server.answer(text('not here', 404));
    await until('one ! the server answers 404 Not Found');
    server.answer(text('<h1>broken</h1>', 500));
    await until('one ! the server answers 500 Internal Server Error');
    server.answer(text(''));
    await until('one ! the answer is empty; where nothing is to run, serve a PodList without items');
    server.answer(text(`---\n${YAML}---\n${POD}\n`));
    await until('two one');
    server.answer(text(`{"apiVersion": "v1", "kind": "PodList", "items": [${POD}]}`));
    await until('one');
    server.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(POD.slice(0, 20));
    });
    await until('one ! there is no complete answer within 10 s');
    server.answer(text(NONE));
    await until('');
  });

  it('keeps what it knows over web pages, nonsense, and half a body of any kind', async () => {
    const server = await serve(text(POD));
    const { until } = start(server.url);
    await until('one');
    server.answer(text('<!DOCTYPE html><p>Please log in', 200, { 'content-type': 'text/html' }));
    await until('one ! the answer is a web page, not manifests');
    server.answer(text('It works!'));
    const { problems } = await until(/^one ! must be an object/);
    expect(problems).toEqual([
      expect.objectContaining({ source: 'http', origin: server.url, position: { line: 1, column: 1 } }),
    ]);
    server.answer((response) => {
      response.writeHead(200, { 'content-length': String(POD.length) });
      response.write(POD.slice(0, -10), () => response.destroy());
    });
    await until(/^one ! the connection broke before the answer was complete/);
    server.answer(text('null'));
    await until(/^one ! the answer is empty/);
    server.answer((response) => {
      response.write(YAML, () => response.destroy());
    });
    await until(/^one ! the connection broke before the answer was complete|^one ! terminated/);
    server.answer(text(Buffer.from([0xc3, 0x28])));
    await until('one ! the answer is no UTF-8 text');
    server.answer(text(POD, 200, { 'content-encoding': 'br' }));
    await until('one ! the answer is packed (br), which was not asked for');
    server.answer(text(YAML));
    await until('two');
  });

  it('stops reading beyond 10 MiB, whether the server says how much it is or not', async () => {
    const server = await serve(text(POD));
    const { until } = start(server.url);
    await until('one');
    server.answer((response) => {
      response.writeHead(200, { 'content-length': String(1024 ** 3) });
      response.write('#');
    });
    await until('one ! the answer is larger than 10 MiB');
    server.answer(text(NONE));
    await until('');

    let sent = 0;
    server.answer((response) => {
      let isOver = false;
      const chunk = Buffer.alloc(64 * 1024, '#');
      response.on('close', () => {
        isOver = true;
      });
      const more = (): void => {
        if (isOver || sent > 200 * 1024 * 1024) return;
        sent += chunk.length;
        if (response.write(chunk)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    await until('! the answer is larger than 10 MiB');
    expect(sent).toBeLessThan(100 * 1024 * 1024);
  });

  it('is unheard while the server is away, and hears it as soon as it comes', async () => {
    const gone = createTcpServer();
    const port = await listen(gone);
    await new Promise((resolve) => gone.close(resolve));
    const { until } = start(`http://127.0.0.1:${port}/`);
    await until(`unheard ! connect ECONNREFUSED 127.0.0.1:${port}`);
    const server = createServer((_, response) => response.end(POD));
    servers.push(server);
    server.listen(port, '127.0.0.1');
    await until('one');
  });

  it('tells names that nobody knows, and what is no HTTP', async () => {
    await start('http://no-such-host.invalid/').until(
      /^unheard ! (?:getaddrinfo E\w+ no-such-host.invalid|there is no complete answer within 10 s)/,
    );
    const port = await listen(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    await start(`http://127.0.0.1:${port}/`).until(/^unheard ! .*(?:HTTP|parse|Parse)/);
  });

  it('asks for what has changed only, and believes that nothing has', async () => {
    const server = await serve((response, { headers }) => {
      if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else text(POD, 200, { etag: '"1"', 'last-modified': 'Sun, 29 Nov 2026 21:00:00 GMT' })(response, {} as never);
    });
    const { until, values } = start(server.url, { httpCheckFrequency: 5 });
    await until('one');
    const again = server.asked.length + 3;
    await expect.poll(() => server.asked.length, { timeout: PATIENCE }).toBeGreaterThan(again);
    expect(values.filter((value) => !value.includes('one'))).toEqual([]);
    expect(server.asked[1]?.headers).toMatchObject({
      'if-none-match': '"1"',
      'if-modified-since': 'Sun, 29 Nov 2026 21:00:00 GMT',
    });
  });

  it('sends the headers it is told, and the user of the URL, which it never shows', async () => {
    const server = await serve(text('no', 403));
    const url = `http://me:pa55word@127.0.0.1:${server.port}/pods?of=n1`;
    const { until } = start(url, { headers: { 'X-Node': ['n1'], 'x-many': ['a', 'b'], Accept: ['text/yaml'] } });
    const { problems } = await until('unheard ! the server answers 403 Forbidden');
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('me:pa55word').toString('base64')}`,
      'x-node': 'n1',
      'x-many': 'a, b',
      accept: 'text/yaml',
    });
    expect(server.asked[0]?.url).toBe('/pods?of=n1');
    expect(problems[0]?.origin).toBe(`http://127.0.0.1:${server.port}/pods?of=n1`);
    expect(JSON.stringify(problems)).not.toContain('pa55word');
  });

  it('follows redirects, with its headers only to the same host, and not for ever', async () => {
    const other = await serve(text(POD));
    const server = await serve((response, { url }) => {
      if (url === '/pods') response.writeHead(302, { location: '/moved' }).end();
      else response.writeHead(307, { location: other.url }).end();
    });
    await start(server.url, { headers: { Authorization: ['Bearer t0ken'] } }).until('one');
    expect(server.asked[1]).toMatchObject({ url: '/moved', headers: { authorization: 'Bearer t0ken' } });
    expect(other.asked[0]?.headers.authorization).toBeUndefined();

    const circle = await serve((response) => response.writeHead(301, { location: '/pods' }).end());
    await start(circle.url).until('unheard ! the server redirects more than 10 times');
    const strange = await serve((response) => response.writeHead(301, { location: 'file:///etc/shadow' }).end());
    await start(strange.url).until('unheard ! the server redirects to file:');
  });

  it('ends its connection with the answer, and when nobody listens any more', async () => {
    const server = await serve((response) => response.write('a'));
    const { values } = start(server.url);
    await expect.poll(() => server.asked.length, { timeout: PATIENCE }).toBe(1);
    const closed = new Promise((resolve) => server.asked[0]?.socket.once('close', resolve));
    for (const subscription of running.splice(0)) subscription.unsubscribe();
    await closed;
    expect(values).toEqual([]);

    const quick = await serve(text(POD));
    await start(quick.url, { httpCheckFrequency: 3_600_000 }).until('one');
    await expect.poll(() => quick.asked.every(({ socket }) => socket.destroyed), { timeout: PATIENCE }).toBe(true);
  });
});

describe('httpSource over TLS', () => {
  let folder = '';
  const file = (name: string): string => join(folder, name);
  const openssl = (...argv: readonly string[]): void => {
    execFileSync('openssl', argv, { cwd: folder, stdio: 'ignore' });
  };

  /** A certificate of a CA of this test. */
  function issue(name: string): void {
    openssl(
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    );
    writeFileSync(file('san'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'san',
      '-out',
      `${name}.crt`,
    );
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rxlet-http-tls-'));
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=test-ca',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
    );
    issue('server');
    issue('node');
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function serveTls(listener: RequestListener): Promise<string> {
    const [key, cert, ca] = ['server.key', 'server.crt', 'ca.crt'].map((name) => readFileSync(file(name)));
    const server = createTlsServer({ key, cert, ca, requestCert: true, rejectUnauthorized: false } as object, listener);
    return `https://127.0.0.1:${await listen(server)}/pods`;
  }

  it('trusts a server by the given CA only, and not one whom nobody vouches for', async () => {
    const url = await serveTls((_, response) => response.end(POD));
    await start(url).until(/^unheard ! .*(?:certificate|signed)/);
    await start(url, { tls: { ca: file('ca.crt') } }).until('one');
    await start(url.replace('127.0.0.1', 'localhost'), { tls: { ca: file('node.crt') } }).until(/^unheard ! /);
  });

  it('shows its certificate to the server, and reads the files anew for every question', async () => {
    const seen: string[] = [];
    const url = await serveTls(({ socket }, response) => {
      const { authorized = false } = socket as { readonly authorized?: boolean };
      seen.push(String(authorized));
      response.writeHead(authorized ? 200 : 401).end(POD);
    });
    await start(url, { tls: { ca: file('ca.crt') } }).until('unheard ! the server answers 401 Unauthorized');
    const tls = { ca: file('ca.crt'), cert: file('late.crt'), key: file('late.key') };
    const { until } = start(url, { tls });
    await until(/^unheard ! .*late\.(?:crt|key) cannot be read: ENOENT/);
    writeFileSync(file('late.crt'), readFileSync(file('node.crt')));
    writeFileSync(file('late.key'), readFileSync(file('node.key')));
    await until('one');
    writeFileSync(file('late.crt'), 'rubbish');
    await until(/^one ! /);
    expect(seen).toContain('true');
  });

  it('does not follow a server from https to http', async () => {
    const plain = await serve(text(POD));
    const url = await serveTls((_, response) => response.writeHead(302, { location: plain.url }).end());
    await start(url, { tls: { ca: file('ca.crt') } }).until(
      `unheard ! the server redirects from https to http, to 127.0.0.1:${plain.port}`,
    );
    expect(plain.asked).toEqual([]);
  });
});
