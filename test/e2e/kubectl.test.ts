import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apiProxy } from './harness/api-proxy.ts';
import { shell } from './harness/pod-json.ts';
import { command, type Running } from './harness/rxlet.ts';
import { HOST } from './harness/runtime-look.ts';
import { ECHO, tellStory, waitFor } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

/** Runs Debian's kubectl against the agent, through as little of an API server as it needs. */
async function kubectl(...words: readonly string[]): Promise<Running> {
  const file = process.env['RXLET_KUBECTL'];
  if (file === undefined)
    throw new Error('RXLET_KUBECTL names no kubectl: use `sudo scripts/test e2e test/e2e/kubectl.test.ts`');
  const home = mkdtempSync(join(tmpdir(), 'rxlet-kubectl-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const server = await apiProxy(node().paths.socket);
  return command(file, [`--server=${server}`, ...words], { env: { HOME: home, PATH: process.env['PATH'] } });
}

async function whenShown(pod: string): Promise<void> {
  await until(
    `${pod} to be shown as running`,
    async () => (await node().pod(pod))?.status.containerStatuses?.[0]?.state?.running !== undefined,
  );
}

test('kubectl exec passes on input to its end, output and the exit code', async () => {
  tellStory(node(), 'shell').tell({ containers: [shell('main', 'exec sleep 3600')] });
  await whenShown('shell');
  const exec = await kubectl('exec', '-i', `shell-${HOST}`, '--', 'sh', '-c', 'cat; echo oops >&2; exit 3');
  exec.child.stdin?.end('all of it\n');
  expect(await exec.ended).toEqual({
    code: 3,
    stdout: 'all of it\n',
    stderr: 'oops\ncommand terminated with exit code 3\n',
  });
});

test('kubectl attach joins the first process of a container', async () => {
  tellStory(node(), 'reader').tell({
    restartPolicy: 'Never',
    containers: [shell('main', ECHO, { stdin: true })],
  });
  await whenShown('reader');
  const attach = await kubectl('attach', '-i', `reader-${HOST}`);
  await until('the answer of the reader', () => {
    // Again each time: the runtime may pass on input before it passes on output.
    attach.child.stdin?.write('hello\n');
    return attach.soFar().stdout.includes('heard hello\n');
  });
  attach.child.stdin?.write('that is all\n');
  expect((await attach.ended).stdout).toContain('heard hello\n');
});

test('kubectl logs -f follows a container to its end', async () => {
  const story = tellStory(node(), 'counter');
  story.tell({
    restartPolicy: 'Never',
    containers: [shell('main', `echo begin; ${waitFor('go')}; for i in 1 2 3; do echo $i; done`)],
  });
  await whenShown('counter');
  const logs = await kubectl('logs', '-f', '--tail=10', `counter-${HOST}`);
  await until('it to show what was', () => logs.soFar().stdout === 'begin\n');
  story.open('go');
  expect(await logs.ended).toEqual({ code: 0, stdout: 'begin\n1\n2\n3\n', stderr: '' });
});

test('kubectl port-forward leads to a port that listens on the loopback of the pod only', async () => {
  tellStory(node(), 'web').tell({
    containers: [
      shell('main', 'echo hello > /tmp/index.html; exec httpd -f -p 127.0.0.1:8080 -h /tmp', {
        readinessProbe: {
          exec: { command: ['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1:8080/index.html'] },
          periodSeconds: 1,
          timeoutSeconds: 30,
        },
      }),
    ],
  });
  await until('it to listen', async () => (await node().pod('web'))?.status.containerStatuses?.[0]?.ready === true);
  const forward = await kubectl('port-forward', `web-${HOST}`, ':8080');
  const port = await until('it to listen', () => /127\.0\.0\.1:(\d+) -> 8080/.exec(forward.soFar().stdout)?.[1]);
  for (const time of ['first', 'second']) {
    const text = await new Promise<string>((resolve, reject) => {
      get(`http://127.0.0.1:${port}/index.html`, { agent: false }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => {
          resolve(body);
        });
      }).on('error', reject);
    });
    expect(`${time} ${text}`).toBe(`${time} hello\n`);
  }
});
