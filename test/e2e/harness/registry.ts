import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { nodeFolder } from './private-node.ts';
import { until } from './until.ts';

export interface Registry {
  /** `127.0.0.1:PORT`, which runtimes speak to in plain HTTP. */
  readonly host: string;
  /** Puts busybox there under a name and tag; with a `mark`, as an image that is no other's. */
  readonly push: (name: string, tag: string, mark?: string) => Promise<void>;
}

/** Who may pull where a registry asks for it. */
export const USER = 'puller';
export const PASSWORD = 'secret';
/** bcrypt, as `htpasswd -B` makes it. */
const HTPASSWD = `${USER}:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n`;

/** Debian's docker-registry on the loopback of this private node; it ends with the test. */
export async function startRegistry({ asksWho = false }: { readonly asksWho?: boolean } = {}): Promise<Registry> {
  const folder = mkdtempSync(join(nodeFolder(), 'registry-'));
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  writeFileSync(join(folder, 'htpasswd'), HTPASSWD);
  const auth = asksWho ? `auth: {htpasswd: {realm: test, path: ${folder}/htpasswd}}\n` : '';
  writeFileSync(
    join(folder, 'config.yml'),
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: '${host}'}\n${auth}`,
  );
  const log = openSync(join(folder, 'log'), 'a');
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: ['ignore', log, log] });
  closeSync(log);
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const headers = { authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}` };
  await until('the registry to answer', async () => (await fetch(`http://${host}/v2/`, { headers })).ok);

  async function send(method: string, url: string, type: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const answer = await fetch(url, { method, headers: { ...headers, 'content-type': type }, body });
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  }

  async function pushBlob(name: string, digest: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
    const begun = await fetch(`http://${host}/v2/${name}/blobs/uploads/`, { method: 'POST', headers });
    const place = new URL(begun.headers.get('location') ?? '', `http://${host}`);
    place.searchParams.set('digest', digest);
    await send('PUT', place.href, 'application/octet-stream', content);
  }

  return {
    host,
    async push(name, tag, mark) {
      const layout = join(folder, 'layout');
      mkdirSync(layout, { recursive: true });
      execFileSync('tar', ['-xf', join(process.env['RXLET_IMAGES'] ?? '', 'busybox.tar'), '-C', layout]);
      const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as Index;
      const [{ digest, mediaType }] = index.manifests;
      const text = blob(layout, digest);
      const { config, layers } = JSON.parse(Buffer.from(text).toString('utf8')) as Manifest;
      for (const { digest: part } of layers) await pushBlob(name, part, blob(layout, part));
      const own = marked(blob(layout, config.digest), mark);
      await pushBlob(name, digestOf(own), own);
      const manifest = JSON.parse(Buffer.from(text).toString('utf8')) as object;
      const body = bytesOf({ ...manifest, config: { ...config, digest: digestOf(own), size: own.length } });
      await send('PUT', `http://${host}/v2/${name}/manifests/${tag}`, mediaType, mark === undefined ? text : body);
    },
  };
}

interface Index {
  readonly manifests: readonly [{ readonly digest: string; readonly mediaType: string }];
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** A server that takes connections and never says a word. */
export async function startStalledServer(): Promise<string> {
  return listen(createServer());
}

/** A server that answers everything with an error. */
export async function startFailingServer(): Promise<string> {
  const answer = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
  return listen(createServer((socket) => socket.once('data', () => socket.end(answer))));
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
  });
  const port = await portOf(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `127.0.0.1:${port}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** The configuration of an image, with a comment that makes it another one. */
function marked(config: Uint8Array<ArrayBuffer>, mark: string | undefined): Uint8Array<ArrayBuffer> {
  if (mark === undefined) return config;
  const parsed = JSON.parse(Buffer.from(config).toString('utf8')) as object;
  return bytesOf({ ...parsed, author: mark });
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(JSON.stringify(value)));
}

function blob(layout: string, digest: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(layout, 'blobs', digest.replace(':', '/'))));
}
