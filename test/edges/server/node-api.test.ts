import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { BehaviorSubject, NEVER, of, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { makeCertificate, type Credential } from '../../../src/host/pki/certificate.ts';
import { ownPki } from '../../../src/host/pki/own-pki.ts';
import type { Route } from '../../../src/server/route.ts';
import { send } from '../../../src/server/send.ts';
import { healthApi, nodeApi } from '../../../src/server/tcp-apis.ts';
import { viewRoutes } from '../../../src/server/view-routes.ts';
import type { TlsIdentity } from '../../../src/streams/ports/tls-identity.ts';
import { NODE } from '../../unit/cli/commands/views.ts';
import { EMPTY_EVENT_LOG } from '../../../src/streams/events/event-log.ts';

const HOUR = 3_600_000;

let folder = '';
let authority: Credential & { readonly commonName: string };
let identity: TlsIdentity;
let client: Credential;
let running: Subscription[] = [];
let asked: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-tls-'));
  const pki = await ownPki({ folder, nodeName: 'n1', names: ['localhost', '127.0.0.1'] }, Date.now());
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  authority = { cert: read('ca.crt'), key: read('ca.key'), commonName: 'rxlet-ca@n1' };
  identity = { ...pki.server, clientCa: pki.authority };
  client = { cert: read('client.crt'), key: read('client.key') };
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  running = [];
  asked = [];
});

const ROUTES: readonly Route[] = [
  ...viewRoutes({ view$: of(NODE), events$: of(EMPTY_EVENT_LOG) }),
  {
    path: '/exec/:namespace/:pod/:container',
    methods: ['GET', 'POST'],
    access: 'node',
    answer: ({ response, params }) => {
      asked.push(params['pod'] ?? '');
      return send(response, { status: 200, text: 'done' });
    },
    upgrade: ({ refuse, params }) => {
      asked.push(params['pod'] ?? '');
      return refuse(403, 'no');
    },
  },
];

function listening(api$: Observable<string>): Promise<number> {
  return new Promise((done, fail) => {
    running.push(
      api$.subscribe({
        next: (where) => {
          done(Number(where.split(':').at(-1)));
        },
        error: fail,
      }),
    );
  });
}

function serve(identity$: Observable<TlsIdentity> = of(identity)): Promise<number> {
  return listening(nodeApi({ host: '127.0.0.1', port: 0 }, identity$, ROUTES));
}

function fetchTls(port: number, path: string, who: Partial<Credential>, ca = authority.cert): Promise<number> {
  return new Promise((done, fail) => {
    const call = request({ host: '127.0.0.1', port, path, ca, ...who, agent: false }, (response) => {
      response.resume();
      response.on('end', () => {
        done(response.statusCode ?? 0);
      });
      response.on('error', fail);
    });
    call.on('error', fail);
    call.end();
  });
}

function fetchPlain(port: number, path: string): Promise<number> {
  return new Promise((done, fail) => {
    const call = plainRequest({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume();
      response.on('end', () => {
        done(response.statusCode ?? 0);
      });
    });
    call.on('error', fail);
    call.end();
  });
}

/** All that comes back until the connection ends, whatever ends it. */
function heard(connection: Socket | TLSSocket): Promise<string> {
  return new Promise((done) => {
    let text = '';
    connection.on('data', (chunk: Buffer) => (text += chunk.toString()));
    connection.on('error', () => undefined);
    connection.on('close', () => {
      done(text);
    });
  });
}

function clientSigned(
  by: typeof authority,
  notBefore: number,
  notAfter: number,
  use: 'client' | 'server' = 'client',
): Credential {
  return makeCertificate({ commonName: 'someone', use, issuer: by, notBefore, notAfter });
}

describe('nodeApi', () => {
  it('serves the paths of the kubelet to a client with a certificate, and none of our own', async () => {
    const port = await serve();
    expect(await fetchTls(port, '/pods', client)).toBe(200);
    expect(await fetchTls(port, '/healthz', client)).toBe(200);
    expect(await fetchTls(port, '/exec/default/web/app', client)).toBe(200);
    for (const path of ['/rxlet/view', '/rxlet/watch', '/rxlet/problems', '/rxlet/events']) {
      expect(await fetchTls(port, path, client)).toBe(404);
    }
  });

  it('turns everybody else away before anything is asked', async () => {
    const port = await serve();
    const now = Date.now();
    const keys = { commonName: 'rxlet-ca@n1', use: 'authority', notBefore: now - HOUR, notAfter: now + HOUR } as const;
    const foreign = { ...makeCertificate(keys), commonName: 'rxlet-ca@n1' };
    const strangers: readonly (readonly [string, Partial<Credential>])[] = [
      ['nobody', {}],
      ['expired', clientSigned(authority, now - 2 * HOUR, now - HOUR)],
      ['not valid yet', clientSigned(authority, now + HOUR, now + 2 * HOUR)],
      ['of a foreign authority with the same name', clientSigned(foreign, now - HOUR, now + HOUR)],
      ['a server', clientSigned(authority, now - HOUR, now + HOUR, 'server')],
      ['signed by itself', makeCertificate({ ...keys, use: 'client' })],
    ];
    for (const [who, credential] of strangers) {
      for (const path of ['/exec/default/web/app', '/healthz']) {
        await expect(fetchTls(port, path, credential), who).rejects.toThrow();
      }
    }
    expect(asked).toEqual([]);
    expect(await fetchTls(port, '/pods', client)).toBe(200);
  });

  it('lets the clients know that it is the node', async () => {
    const port = await serve();
    const other = makeCertificate({ commonName: 'x', use: 'authority', notBefore: 0, notAfter: Date.now() + HOUR });
    await expect(fetchTls(port, '/pods', client, other.cert)).rejects.toThrow();
  });

  it('says nothing to who does not speak TLS, or sends requests beside the handshake', async () => {
    const port = await serve();
    const plain = connectPlain(port, '127.0.0.1');
    plain.write('POST /exec/default/web/app HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n');
    expect(await heard(plain)).not.toContain('HTTP/1.1 200');

    const early = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    early.write('POST /exec/default/web/app HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n');
    expect(await heard(early)).toBe('');
    expect(asked).toEqual([]);
  });

  it('hangs up on who never finishes the handshake, and serves others meanwhile', async () => {
    const port = await serve();
    const silent = connectPlain(port, '127.0.0.1');
    const torn = connectPlain(port, '127.0.0.1');
    // The beginning of a record of a handshake, and no more of it.
    torn.write(Buffer.from([22, 3, 1, 1, 0, 1]));
    const ended = Promise.all([heard(silent), heard(torn)]);
    expect(await fetchTls(port, '/healthz', client)).toBe(200);
    expect(await ended).toEqual(['', '']);
    expect(await fetchTls(port, '/healthz', client)).toBe(200);
  });

  it('does not let a session be resumed without showing the certificate again', async () => {
    const port = await serve();
    const sessions: Buffer[] = [];
    const first = connect({ host: '127.0.0.1', port, ca: authority.cert, ...client });
    first.on('session', (session: Buffer) => sessions.push(session));
    first.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await heard(first)).toContain('200 OK');
    for (const session of sessions) {
      const again = connect({ host: '127.0.0.1', port, ca: authority.cert, session });
      again.write('GET /exec/default/web/app HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      expect(await heard(again)).toBe('');
    }
    expect(asked).toEqual([]);
  });

  it('takes a renewed identity without a break', async () => {
    const now = Date.now();
    const identity$ = new BehaviorSubject(identity);
    const port = await serve(identity$);
    expect(await fetchTls(port, '/pods', client)).toBe(200);
    const wish = { commonName: 'new', notBefore: now - HOUR, notAfter: now + HOUR } as const;
    const next = { ...makeCertificate({ ...wish, use: 'authority' }), commonName: 'new' };
    const server = makeCertificate({ ...wish, use: 'server', names: ['127.0.0.1'], issuer: next });
    identity$.next({ ...server, clientCa: next.cert });
    await expect(fetchTls(port, '/pods', client, next.cert)).rejects.toThrow();
    expect(await fetchTls(port, '/pods', clientSigned(next, now - HOUR, now + HOUR), next.cert)).toBe(200);
  });

  it('does not listen before it has an identity', async () => {
    const api = nodeApi({ host: '127.0.0.1', port: 0 }, NEVER, ROUTES);
    let told = 0;
    running.push(api.subscribe({ next: () => (told += 1), error: () => (told += 1) }));
    await new Promise((done) => setImmediate(done));
    expect(told).toBe(0);
  });
});

describe('healthApi', () => {
  it('tells anybody on this machine how the agent is, and nothing else', async () => {
    const port = await listening(healthApi({ host: '127.0.0.1', port: 0 }, ROUTES));
    for (const path of ['/healthz', '/healthz/ping', '/healthz/syncloop', '/livez']) {
      expect(await fetchPlain(port, path)).toBe(200);
    }
    for (const path of ['/pods', '/rxlet/view', '/exec/default/web/app', '/healthz/../pods', '/metrics', '/configz']) {
      expect(await fetchPlain(port, path)).toBeGreaterThanOrEqual(400);
    }
    expect(asked).toEqual([]);
  });

  it('errors where the port is taken', async () => {
    const port = await listening(healthApi({ host: '127.0.0.1', port: 0 }, ROUTES));
    await expect(listening(healthApi({ host: '127.0.0.1', port }, ROUTES))).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}`,
    );
  });
});
