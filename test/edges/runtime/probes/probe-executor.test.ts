import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { status } from '@grpc/grpc-js';
import { firstValueFrom, NEVER, of, Subject, throwError, type Observable } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import type { ExecSyncRequest, ExecSyncResponse } from '../../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../../src/model/errors.ts';
import type { Container, Pod, PodUid } from '../../../../src/model/pod.ts';
import { probeExecutor } from '../../../../src/runtime/probes/probe-executor.ts';
import type { Probe, ProbeAnswer, ProbeTarget } from '../../../../src/streams/probes/probe.ts';
import { closedPort, forwarder, grpcServer, httpServer, httpsServer, tcpServer } from './servers.ts';

const WARNING = 'Probe terminated redirects, Response body: ';

/** Seconds that no healthy answer needs, however busy the machine is. */
const PLENTY = 60;

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function up<T extends { readonly stop: () => void }>(server: Promise<T>): Promise<T> {
  const running = await server;
  stops.push(running.stop);
  return running;
}

function target(container: Partial<Container> = {}): ProbeTarget {
  const pod = { metadata: { name: 'p' }, spec: { containers: [] } } as unknown as Pod;
  return {
    uid: 'u' as PodUid,
    pod,
    container: { name: 'c', ...container },
    containerId: 'id',
    kind: 'liveness',
    podIp: '127.0.0.1',
  };
}

function noExec(): Observable<ExecSyncResponse> {
  return NEVER;
}

function ask$(
  probe: Probe,
  of$: ProbeTarget = target(),
  execSync = noExec as (r: ExecSyncRequest) => Observable<ExecSyncResponse>,
) {
  return probeExecutor({ execSync })(of$, { timeoutSeconds: PLENTY, ...probe });
}

function ask(...given: Parameters<typeof ask$>): Promise<ProbeAnswer> {
  return firstValueFrom(ask$(...given));
}

/** Answers each path with what the table says; the path is not looked up further than its query. */
function routes(table: Readonly<Record<string, RequestListener>>): RequestListener {
  return (request, response) => {
    const route = table[(request.url ?? '').split('?')[0] ?? ''];
    if (route) route(request, response);
    else response.writeHead(404).end();
  };
}
const answer =
  (code: number, body = '', headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(code, headers).end(body);
  };
const redirect = (location: string): RequestListener => answer(302, 'moved', { location });

describe('an httpGet probe', () => {
  test.each([
    [200, 'success'],
    [204, 'success'],
    [304, 'warning'],
    [400, 'failure'],
    [404, 'failure'],
    [503, 'failure'],
  ] as const)('an httpGet probe takes code %i for %s', async (code, result) => {
    const { port } = await up(httpServer(answer(code)));
    const told = result === 'failure' ? `HTTP probe failed with statuscode: ${code}` : '';
    await expect(ask({ httpGet: { port } })).resolves.toEqual({
      result,
      output: result === 'warning' ? WARNING : told,
    });
  });

  test('an httpGet probe asks with its own headers, on a connection that is closed after it', async () => {
    const seen: IncomingMessage[] = [];
    const server = await up(
      httpServer((request, response) => {
        seen.push(request);
        response.end('fine');
      }),
    );
    const httpHeaders = [
      { name: 'Host', value: 'shop.test' },
      { name: 'X-A', value: '1' },
      { name: 'X-A', value: '2' },
    ];
    const container = { ports: [{ name: 'web', containerPort: server.port }] };
    const probe: Probe = { httpGet: { port: 'web', path: '/a?b=c d', httpHeaders } };
    await expect(ask(probe, target(container))).resolves.toEqual({ result: 'success', output: 'fine' });
    await server.allClosed();
    expect(seen[0]?.url).toBe('/a?b=c%20d');
    expect(seen[0]?.headers).toMatchObject({
      host: 'shop.test',
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      connection: 'close',
      'x-a': '1, 2',
    });
  });

  test('an httpGet probe sends the address that it asks as Host where it names none', async () => {
    const seen: (string | undefined)[] = [];
    const { port } = await up(
      httpServer(({ headers }, response) => {
        seen.push(headers.host);
        response.end();
      }),
    );
    await ask({ httpGet: { port } });
    expect(seen).toEqual([`127.0.0.1:${port}`]);
  });

  test('an httpGet probe reaches the host that it names, though the address of the pod is not known', async () => {
    const { port } = await up(httpServer(answer(200)));
    const nowhere = { ...target(), podIp: undefined };
    await expect(ask({ httpGet: { port, host: '127.0.0.1' } }, nowhere)).resolves.toMatchObject({ result: 'success' });
    await expect(ask({ httpGet: { port } }, nowhere)).rejects.toThrow('the address of the pod is not known yet');
  });

  test('redirects on the same host are followed, also to another port', async () => {
    const other = await up(httpServer(answer(200, 'there')));
    const { port } = await up(
      httpServer(routes({ '/': redirect('/next'), '/next': redirect(`http://127.0.0.1:${other.port}/`) })),
    );
    await expect(ask({ httpGet: { port } })).resolves.toEqual({ result: 'success', output: 'there' });
  });

  test('what a redirect on the same host leads to is judged', async () => {
    const { port } = await up(httpServer(routes({ '/': redirect('/missing') })));
    await expect(ask({ httpGet: { port } })).resolves.toMatchObject({ result: 'failure' });
  });

  test('a redirect to another host is a warning, and not followed', async () => {
    const { port } = await up(httpServer(redirect('http://198.51.100.9:1/')));
    await expect(ask({ httpGet: { port } })).resolves.toEqual({
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    });
  });

  test('ten redirects are a failure', async () => {
    let asked = 0;
    const { port } = await up(
      httpServer((request, response) => {
        asked += 1;
        redirect('/')(request, response);
      }),
    );
    await expect(ask({ httpGet: { port } })).resolves.toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": stopped after 10 redirects`,
    });
    expect(asked).toBe(10);
  });

  test('no more than 10 KiB of an answer are read', async () => {
    const server = await up(
      httpServer((_, response) => {
        const more = (): void => {
          while (response.writable && response.write('x'.repeat(1_000)));
        };
        response.on('drain', more);
        more();
      }),
    );
    const { result, output } = await ask({ httpGet: { port: server.port } });
    expect([result, output.length]).toEqual(['success', 10_240]);
    await server.allClosed();
  });

  test('an httpGet probe fails on a port where nobody listens, in the words of the kubelet', async () => {
    const port = await closedPort();
    await expect(ask({ httpGet: { port, path: '/a' } })).resolves.toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/a": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('an httpGet probe fails when no answer comes within timeoutSeconds, and closes its connection', async () => {
    const server = await up(httpServer(() => undefined));
    await expect(ask({ httpGet: { port: server.port }, timeoutSeconds: 0.3 })).resolves.toEqual({
      result: 'failure',
      output: expect.stringMatching(/^Get "http:.*Client\.Timeout exceeded while awaiting headers\)$/) as string,
    });
    await server.allClosed();
  });

  test('an httpGet probe fails when its answer does not end in time', async () => {
    const server = await up(
      httpServer((_, response) => {
        response.writeHead(200);
        response.write('half');
      }),
    );
    const { result, output } = await ask({ httpGet: { port: server.port }, timeoutSeconds: 1 });
    expect([result, output]).toEqual(['failure', expect.stringContaining('Client.Timeout')]);
    await server.allClosed();
  });

  test.each([
    ['before the answer', '', 'EOF'],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', 'unexpected EOF'],
  ])('an httpGet probe fails when the server hangs up %s', async (_, bytes, text) => {
    const { port } = await up(
      tcpServer((socket) => {
        socket.once('data', () => socket.end(bytes));
      }),
    );
    await expect(ask({ httpGet: { port } })).resolves.toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": ${text}`,
    });
  });

  test('an httpGet probe fails on what is no HTTP', async () => {
    const { port } = await up(tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    await expect(ask({ httpGet: { port } })).resolves.toMatchObject({ result: 'failure' });
  });

  test('an httpGet probe believes any certificate', async () => {
    const server = await up(httpsServer(answer(200, 'fine')));
    await expect(ask({ httpGet: { port: server.port, scheme: 'HTTPS' } })).resolves.toEqual({
      result: 'success',
      output: 'fine',
    });
    await server.allClosed();
  });

  test('an HTTPS probe that meets a server without TLS fails and says so', async () => {
    const { port } = await up(httpServer(answer(200)));
    await expect(ask({ httpGet: { port, scheme: 'HTTPS' } })).resolves.toEqual({
      result: 'failure',
      output: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
    });
  });

  test('a port name that the container does not have is an error and no failure', async () => {
    await expect(ask({ httpGet: { port: 'nosuch' } })).rejects.toThrow(
      'strconv.Atoi: parsing "nosuch": invalid syntax',
    );
  });

  test('an httpGet probe closes its connection when nobody listens any more', async () => {
    const arrived = new Subject<undefined>();
    const first = firstValueFrom(arrived);
    const server = await up(
      httpServer(() => {
        arrived.next(undefined);
      }),
    );
    const asking = ask$({ httpGet: { port: server.port } }).subscribe();
    await first;
    expect(server.open()).toBe(1);
    asking.unsubscribe();
    await server.allClosed();
  });

  test('an httpGet probe goes to its server without a proxy', async () => {
    const { port } = await up(httpServer(answer(200, 'the server')));
    const proxy = await up(httpServer(answer(200, 'the proxy')));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      await expect(ask({ httpGet: { port } })).resolves.toEqual({ result: 'success', output: 'the server' });
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    }
  });

  test('#49: leaves no connection open after a thousand probes', async () => {
    const server = await up(httpServer(answer(200)));
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask({ httpGet: { port: server.port } })));
      expect(answers.every(({ result }) => result === 'success')).toBe(true);
    }
    await server.allClosed();
  });
});

describe('a tcpSocket probe', () => {
  test('a tcpSocket probe succeeds when its connection is made, and closes it', async () => {
    const server = await up(tcpServer());
    await expect(ask({ tcpSocket: { port: server.port } })).resolves.toEqual({ result: 'success', output: '' });
    await server.allClosed();
  });

  test('a tcpSocket probe fails when it is refused', async () => {
    const port = await closedPort();
    await expect(ask({ tcpSocket: { port } })).resolves.toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('a tcpSocket probe fails for a host that does not exist', async () => {
    const { result, output } = await ask({ tcpSocket: { port: 1, host: 'nowhere.invalid' } });
    expect(result).toBe('failure');
    expect(output).toContain('dial tcp');
  });
});

describe('a grpc probe', () => {
  const serving =
    (health: string) =>
    (_: unknown, reply: (error: null, answer: object) => void): void => {
      reply(null, { status: health });
    };

  test('a grpc probe succeeds when its service is SERVING, and closes its connection', async () => {
    const asked: unknown[] = [];
    const { port } = await up(
      grpcServer({
        Check: ({ request }: { request: unknown }, reply: (error: null, answer: object) => void) => {
          asked.push(request);
          reply(null, { status: 'SERVING' });
        },
      }),
    );
    const front = await up(forwarder(port));
    await expect(ask({ grpc: { port: front.port, service: 'shop' } })).resolves.toEqual({
      result: 'success',
      output: 'service healthy',
    });
    expect(asked).toEqual([{ service: 'shop' }]);
    await front.allClosed();
  });

  test.each(['NOT_SERVING', 'SERVICE_UNKNOWN', 'UNKNOWN'])(
    'a grpc probe fails when it is answered %s',
    async (health) => {
      const { port } = await up(grpcServer({ Check: serving(health) }));
      await expect(ask({ grpc: { port } })).resolves.toEqual({
        result: 'failure',
        output: `service unhealthy (responded with "${health}")`,
      });
    },
  );

  test('a grpc probe fails when the server knows nothing of health', async () => {
    const { port } = await up(grpcServer({}));
    const { result, output } = await ask({ grpc: { port } });
    expect(result).toBe('failure');
    expect(output).toMatch(
      /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): /,
    );
  });

  test('a grpc probe fails when its service is not known', async () => {
    const { port } = await up(
      grpcServer({
        Check: (_: unknown, reply: (error: object) => void) => {
          reply({ code: status.NOT_FOUND, details: 'unknown service' });
        },
      }),
    );
    await expect(ask({ grpc: { port } })).resolves.toEqual({
      result: 'failure',
      output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    });
  });

  test('a grpc probe fails when its answer does not come in time, and cancels the call', async () => {
    const cancelled = new Subject<undefined>();
    const ended = firstValueFrom(cancelled);
    const { port } = await up(
      grpcServer({
        Check: (call: NodeJS.EventEmitter) => {
          call.on('cancelled', () => {
            cancelled.next(undefined);
          });
        },
      }),
    );
    await expect(ask({ grpc: { port }, timeoutSeconds: 10 })).resolves.toEqual({
      result: 'failure',
      output: 'timeout: health rpc did not complete within 10s',
    });
    await ended;
  });

  test('a grpc probe keeps trying to connect for all of its time, and fails then in the words of the kubelet', async () => {
    const port = await closedPort();
    await expect(ask({ grpc: { port }, timeoutSeconds: 1 })).resolves.toEqual({
      result: 'failure',
      output: `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`,
    });
  });

  test('a grpc probe closes its connection also when it has failed', async () => {
    const server = await up(tcpServer());
    await expect(ask({ grpc: { port: server.port }, timeoutSeconds: 1 })).resolves.toMatchObject({ result: 'failure' });
    await server.allClosed();
  });
});

describe('an exec probe', () => {
  const answering = (given: ExecSyncResponse) => (): Observable<ExecSyncResponse> => of(given);
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const exec = { command: ['test', '-f', '/up'] };

  test('an exec probe runs its command in the container, with timeoutSeconds as its limit', async () => {
    const asked: ExecSyncRequest[] = [];
    const env = [
      { name: 'FILE', value: '/up' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const probe: Probe = { exec: { command: ['test', '$(FILE)', '$(POD)', '$(OTHER)'] }, timeoutSeconds: 7 };
    await ask(probe, target({ env }), (request) => {
      asked.push(request);
      return of({});
    });
    expect(asked).toEqual([{ containerId: 'id', cmd: ['test', '/up', '', '$(OTHER)'], timeout: 7 }]);
  });

  test('expands its command by literal variables only, as they stand: others are empty, and unknown names stay', async () => {
    const asked: ExecSyncRequest[] = [];
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const probe: Probe = { exec: { command: ['$(A)', '$(B)', '<$(POD)>', '$(OTHER)', '$$(A)'] } };
    await ask(probe, target({ env }), (request) => {
      asked.push(request);
      return of({});
    });
    expect(asked[0]?.cmd).toEqual(['1', '$(A)', '<>', '$(OTHER)', '$(A)']);
  });

  test('an exec probe succeeds with exit code 0 and fails with every other, and tells what was printed', async () => {
    const printed = { stdout: bytes('out\n'), stderr: bytes('err\n') };
    await expect(ask({ exec }, target(), answering(printed))).resolves.toEqual({
      result: 'success',
      output: 'out\nerr',
    });
    await expect(ask({ exec }, target(), answering({ ...printed, exitCode: 3 }))).resolves.toEqual({
      result: 'failure',
      output: 'out\nerr',
    });
  });

  test('no more than 10 KiB of what was printed are told', async () => {
    const long = { stdout: bytes('a'.repeat(10_000)), stderr: bytes('b'.repeat(1_000_000)), exitCode: 1 };
    const { output } = await ask({ exec }, target(), answering(long));
    expect([output.length, output.slice(9_999, 10_001)]).toEqual([10_240, 'ab']);
  });

  test('an exec probe fails when its command has not ended in time', async () => {
    const deadline = () => throwError(() => new RuntimeError('deadline', 'ExecSync', 'timeout 2s exceeded'));
    await expect(ask({ exec, timeoutSeconds: 2 }, target(), deadline)).resolves.toEqual({
      result: 'failure',
      output: 'command timed out: "test -f /up" timed out after 2s',
    });
  });

  test('an exec probe whose command could not be run is an error and no failure', async () => {
    const gone = () => throwError(() => new RuntimeError('notFound', 'ExecSync', 'no such container'));
    await expect(ask({ exec }, target(), gone)).rejects.toThrow('no such container');
  });
});

describe('many probes', () => {
  /** Answers nobody that has not hung up first: the side that does keeps the port. */
  const POLITE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

  test.each(['tcpSocket', 'httpGet', 'grpc'] as const)(
    '#49: by %s leave none of the ports of this machine taken behind them',
    async (kind) => {
      const { port } =
        kind === 'grpc'
          ? await up(
              grpcServer({
                Check: (_: unknown, reply: (e: null, a: object) => void) => {
                  reply(null, { status: 'SERVING' });
                },
              }),
            )
          : await up(tcpServer((socket) => socket.on('data', () => socket.write(POLITE))));
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all(Array.from({ length: 30 }, () => ask({ [kind]: { port } })));
        expect(answers.every(({ result }) => result === 'success')).toBe(true);
      }
      await expect.poll(() => socketsTo(port)).toEqual([]);
    },
  );

  /** States of all sockets of this machine that lead to a port, those too that only the kernel still knows (06: TIME_WAIT). */
  function socketsTo(port: number): readonly string[] {
    const hex = port.toString(16).padStart(4, '0').toUpperCase();
    const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').split('\n'));
    return rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, , remote]) => remote?.endsWith(`:${hex}`) === true)
      .map(([, , , state = '']) => state);
  }
});

describe('a probe that asks nothing', () => {
  test('errors', async () => {
    await expect(ask({})).rejects.toThrow('container c has a liveness probe that asks nothing');
  });
});
