import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serve } from '../../../../src/cli/simulate/serve.ts';
import { plainClient, type PlainClient } from './plain-client.ts';

let held = new Subscription();
let dir = '';
const path = (name: string): string => join(dir, name);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rxlet-serve-'));
});
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
  rmSync(dir, { recursive: true });
});

describe('rxlet simulate --serve', () => {
  test('runs commands by their text where no script says otherwise, with their logs and last words on disk', async () => {
    const client = await served(`
containers:
  - pod: web
    exits: { after: 100ms, code: 7 }
    terminationMessage: out of work
    prints: [{ after: 10ms, text: by the script, stream: stderr }]
`);
    writeFileSync(path('message'), '');
    const byScript = await start(client, 'web', ['sleep', '1000'], {
      annotations: { 'io.kubernetes.container.terminationMessagePath': '/dev/termination-log' },
      mounts: [{ containerPath: '/dev/termination-log', hostPath: path('message') }],
    });
    const byCommand = await start(client, 'job', ['sh', '-c', 'echo by its text; exit 3']);
    const forEver = await start(client, 'db', ['postgres']);

    await expect.poll(() => end(client, byScript), LIMIT).toEqual(['CONTAINER_EXITED', 7]);
    await expect.poll(() => end(client, byCommand), LIMIT).toEqual(['CONTAINER_EXITED', 3]);
    expect(await end(client, forEver)).toEqual(['CONTAINER_RUNNING', undefined]);
    expect(readFileSync(path('web/main.log'), 'utf8')).toMatch(/^\S+Z stderr F by the script\n$/);
    expect(readFileSync(path('job/main.log'), 'utf8')).toMatch(/^\S+Z stdout F by its text\n$/);
    expect(readFileSync(path('db/main.log'), 'utf8')).toBe('');
    expect(readFileSync(path('message'), 'utf8')).toBe('out of work');
  });

  test('makes go wrong what a script says, and tells of steps that came to nothing', async () => {
    const told: string[] = [];
    const client = await served(
      `
steps:
  - at: 0s
    fault: { calls: [PullImage], kind: fail, message: no such registry, times: 1 }
  - at: 0s
    exitContainer: { pod: nobody, code: 1 }
`,
      told,
    );

    await expect(client.call('PullImage', { image: { image: 'busybox' } })).rejects.toThrow('no such registry');
    await expect(client.call('PullImage', { image: { image: 'busybox' } })).resolves.toHaveProperty('imageRef');
    expect(told).toEqual([expect.stringContaining('no such container runs')]);
  });

  test('refuses a script that needs an agent, with each place', async () => {
    const script =
      'steps:\n  - at: 1s\n    crashAgent: {}\n  - at: 2s\n    reboot: {}\nexpect:\n  - { pod: web, ready: true }\n';

    await expect(served(script)).rejects.toThrow(
      new RegExp(
        `has no agent, manifests and disk of its own:\n  ${path('s.yaml')}:2:5: .*\n  \\S+:7:5: an expectation$`,
      ),
    );
  });

  test('goes on with what it had, and refuses a file that holds something else', async () => {
    const first = await served();
    const containerId = await start(first, 'web', ['httpd'], { envs: [{ key: 'RAW', value: Uint8Array.of(255, 0) }] });
    held.unsubscribe();
    held = new Subscription();

    const second = await served();
    expect(await end(second, containerId)).toEqual(['CONTAINER_RUNNING', undefined]);
    const other = await start(second, 'other', ['httpd']);
    expect(other).not.toBe(containerId);
    held.unsubscribe();
    held = new Subscription();

    writeFileSync(path('state'), '{"pods":[]}');
    await expect(served()).rejects.toMatchObject({
      exitCode: 2,
      message: `${path('state')} does not hold the state of a simulated runtime`,
    });
  });

  test('does not take a place that is served', async () => {
    await served();

    await expect(served()).rejects.toMatchObject({
      exitCode: 3,
      message: `cannot listen on ${path('cri.sock')}: another runtime answers on it`,
    });
  });
});

const LIMIT = { timeout: 60_000, interval: 20 };

function served(script?: string, told: string[] = []): Promise<PlainClient> {
  if (script !== undefined) writeFileSync(path('s.yaml'), script);
  const options = {
    serve: path('cri.sock'),
    seed: undefined,
    state: path('state'),
    script: script === undefined ? undefined : path('s.yaml'),
  };
  return new Promise((resolve, reject) => {
    held.add(
      serve(options, (problem) => told.push(problem)).subscribe({
        next: (endpoint) => {
          const client = plainClient(endpoint.trimEnd());
          held.add(() => {
            client[Symbol.dispose]();
          });
          resolve(client);
        },
        error: reject,
      }),
    );
  });
}

/** Runs a container in a pod of its own, and resolves to its id. */
async function start(client: PlainClient, pod: string, command: readonly string[], more: object = {}): Promise<string> {
  await client.call('PullImage', { image: { image: 'busybox' } });
  const metadata = { name: pod, namespace: 'default', uid: pod };
  const { podSandboxId = '' } = await client.call('RunPodSandbox', { config: { metadata, logDirectory: path(pod) } });
  const config = { metadata: { name: 'main' }, image: { image: 'busybox' }, command, logPath: 'main.log', ...more };
  const { containerId = '' } = await client.call('CreateContainer', { podSandboxId, config });
  await client.call('StartContainer', { containerId });
  return containerId;
}

async function end(client: PlainClient, containerId: string): Promise<readonly unknown[]> {
  const { status } = await client.call('ContainerStatus', { containerId });
  return [status?.state, status?.exitCode];
}
