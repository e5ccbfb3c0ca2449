import { createServer, request, type IncomingMessage, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { servedPods } from './local-api.ts';

/**
 * As much of an API server as kubectl needs to find a pod, its log and what runs in it: passes them on to the agent's
 * socket, as a real one does to the kubelet. Resolves to its URL; ends with the test.
 */
export async function apiProxy(socketPath: string): Promise<string> {
  const server = createServer((message, response) => {
    const to = passedOn(message);
    if (to !== undefined) {
      request(optionsOf(socketPath, to, message), (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).end();
      return;
    }
    answerTo(socketPath, (message.url ?? '').split('?')[0] ?? '').then(
      (body) => {
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const open = new Set<Duplex>();
  server.on('upgrade', (message, client, head) => {
    open.add(client);
    client.on('error', () => undefined);
    const call = request(optionsOf(socketPath, passedOn(message) ?? '/', message));
    call.on('upgrade', (answer, connection, first) => {
      open.add(connection);
      connection.on('error', () => undefined);
      client.write(`${headOf(answer)}\r\n\r\n`);
      client.write(first);
      connection.write(head);
      client.pipe(connection).pipe(client);
    });
    call.on('response', (answer) => {
      client.write(`${headOf(answer)}\r\nconnection: close\r\n\r\n`);
      answer.pipe(client);
    });
    call.on('error', () => client.destroy());
    call.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const connection of open) connection.destroy();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function optionsOf(socketPath: string, path: string, { method, headers }: IncomingMessage): RequestOptions {
  return { socketPath, path, method: method ?? 'GET', headers, agent: false };
}

function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index] ?? ''}: ${rawHeaders[index + 1] ?? ''}`);
  return lines.join('\r\n');
}

const POD = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/?]+)(?:\/(exec|attach|portforward|log))?(?:\?(.*))?$/;
/** The API server's names of the ends of a process, and the kubelet's. */
const ENDS: Readonly<Record<string, string>> = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' };

/** Where the kubelet has what a path of the API means. */
function passedOn({ url = '' }: IncomingMessage): string | undefined {
  const [, namespace = '', pod = '', verb, text = ''] = POD.exec(url) ?? [];
  const query = new URLSearchParams(text);
  const container = query.get('container') ?? '';
  query.delete('container');
  for (const [theirs, ours] of Object.entries(ENDS)) {
    if (query.get(theirs) === 'true') query.set(ours, '1');
    if (theirs !== ours) query.delete(theirs);
  }
  switch (verb) {
    case 'exec':
    case 'attach':
      return `/${verb}/${namespace}/${pod}/${container}?${query.toString()}`;
    case 'portforward':
      return `/portForward/${namespace}/${pod}?${query.toString()}`;
    case 'log':
      return `/containerLogs/${namespace}/${pod}/${container}?${query.toString()}`;
    default:
      return undefined;
  }
}

async function answerTo(socketPath: string, path: string): Promise<unknown> {
  const verbs = ['get', 'list'];
  switch (path) {
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: [] };
    case '/api/v1':
      return {
        ...{ kind: 'APIResourceList', groupVersion: 'v1' },
        resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', shortNames: ['po'], verbs }],
      };
    default: {
      const [, namespace, name] = POD.exec(path) ?? [];
      const pods = await servedPods(socketPath);
      const pod = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      return pod && { apiVersion: 'v1', kind: 'Pod', ...pod };
    }
  }
}
