import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { podJson, shell } from './harness/pod-json.ts';
import { untilAsked } from './harness/story.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const NONE = '{"apiVersion": "v1", "kind": "PodList", "items": []}';

test('#16: a pod served over HTTP runs, stays when the server dies and rxlet restarts, and goes when it is served no more', async () => {
  const node = await testNode();
  let body = podJson({ name: 'served', containers: [shell('main', untilAsked())] });
  let server = await serve(0);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/pods`;
  const flags = [`--manifest-url=${url}`, '--http-check-frequency=200ms'];
  onTestFinished(() => void server.close());

  await node.start(...flags);
  const { id } = await node.whenRunning('served');

  await stop(server);
  await until('the server to be missed', async () => (await node.problems()).some(({ origin }) => origin === url));
  expect((await node.whenRunning('served')).id).toBe(id);
  await node.signal('SIGTERM');
  await node.start(...flags);
  await until('the pod to be known again', async () => (await node.pod('served'))?.status.phase === 'Running');
  expect((await node.whenRunning('served')).id).toBe(id);

  body = NONE;
  server = await serve(port);
  await node.whenGone('served');
  await until('nothing to be wrong any more', async () => (await node.problems()).length === 0);

  function serve(on: number): Promise<Server> {
    const one = createServer((_, response) => response.end(body));
    return new Promise((resolve) => {
      one.listen(on, '127.0.0.1', () => {
        resolve(one);
      });
    });
  }
});

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
