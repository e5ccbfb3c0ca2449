import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { plainClient } from '../cli/simulate/plain-client.ts';
import { ground, LIMIT, type Ground, type Process } from './ground.ts';

const FOR_EVER = ['httpd', '-f'];

describe('the agent on a served node', () => {
  test('runs a pod, follows its file, writes its log and ends it, all by a user without rights', async () => {
    using here = ground({ asNobody: true });
    const runtime = await served(here);
    const agent = here.startAgent();
    using client = plainClient(here.endpoint);

    here.write('web', ['sh', '-c', 'echo hello; sleep inf']);
    const first = await here.running('web');
    const { status } = await client.call('ContainerStatus', { containerId: first.containers[0]?.id });
    expect(status).toMatchObject({ state: 'CONTAINER_RUNNING' });
    expect(readFileSync(status?.logPath ?? '', 'utf8')).toMatch(/^\S+T\S+Z stdout F hello\n$/);

    here.write('web', FOR_EVER);
    await here.running('web', first);
    here.remove('web');
    await expect.poll(async () => (await client.call('ListPodSandbox', {})).items, LIMIT).toEqual([]);
    expect((await client.call('ListContainers', {})).containers).toEqual([]);

    agent.kill('SIGTERM');
    expect(await agent.ended).toBe(0);
    runtime.kill('SIGTERM');
    expect(await runtime.ended).toBe(0);
    expect(runtime.errors()).toBe('');
  });

  test('starts a container again that ends, with the code with which it ended', async () => {
    using here = ground();
    await served(here);
    here.startAgent();
    here.write('job', ['sh', '-c', 'sleep 0.1; exit 3'], { restartPolicy: 'Never' });
    here.write('loop', ['sh', '-c', 'exit 4']);

    await expect.poll(async () => (await here.pods())['job']?.phase, LIMIT).toBe('Failed');
    await expect
      .poll(async () => (await here.pods())['loop']?.containers[0]?.restarts ?? 0, LIMIT)
      .toBeGreaterThanOrEqual(1);
    const { text } = await here.get('/pods');
    expect(text).toContain('"exitCode":3');
    expect(text).toContain('"exitCode":4');
  });
});

describe('what the user keeps when the runtime is killed', () => {
  test('every container as it runs, when the runtime remembers: none is restarted, none is doubled', async () => {
    using here = ground();
    const first = await served(here, '--state', here.state);
    here.startAgent();
    here.write('web', FOR_EVER);
    here.write('db', FOR_EVER);
    const before = { web: await here.running('web'), db: await here.running('db') };

    first.kill('SIGKILL');
    await first.ended;
    await unready(here);
    await served(here, '--state', here.state);
    await ready(here);
    here.write('late', FOR_EVER);
    await here.running('late');

    expect(await here.pods()).toMatchObject(before);
    expect(await counts(here)).toEqual({ sandboxes: 3, containers: 3 });
  });

  test('every pod, made anew, when the runtime has forgotten all', async () => {
    using here = ground();
    const first = await served(here);
    here.startAgent();
    here.write('web', FOR_EVER);
    const before = await here.running('web');

    first.kill('SIGKILL');
    await first.ended;
    await unready(here);
    await served(here);
    await here.running('web', before);
    await ready(here);

    expect(await counts(here)).toEqual({ sandboxes: 1, containers: 1 });
  });
});

describe('what the user keeps when the runtime hangs', () => {
  test('every pod as it is, and an agent that says what is wrong until the runtime goes on', async () => {
    using here = ground();
    const runtime = await served(here);
    const agent = here.startAgent('1s');
    here.write('web', FOR_EVER);
    const before = await here.running('web');

    runtime.kill('SIGSTOP');
    await unready(here);
    expect((await here.get('/readyz')).text).toContain('[-]runtime failed: ');
    expect((await here.get('/livez')).status).toBe(200);
    here.write('late', FOR_EVER);
    await expect.poll(agent.errors, LIMIT).toContain('the container runtime is not ready: ');
    expect(agent.errors()).toContain('Deadline exceeded after 1s');

    runtime.kill('SIGCONT');
    await ready(here);
    await here.running('late');
    expect(await here.pods()).toMatchObject({ web: before });
    expect(await counts(here)).toEqual({ sandboxes: 2, containers: 2 });
  });
});

/** Waits for a runtime of its own process. */
async function served(here: Ground, ...argv: readonly string[]): Promise<Process> {
  const runtime = here.start('simulate', '--serve', here.endpoint, ...argv);
  await expect.poll(runtime.output, LIMIT).toBe(`${here.endpoint}\n`);
  return runtime;
}

async function unready(here: Ground): Promise<void> {
  await expect.poll(async () => (await here.get('/readyz')).status, LIMIT).toBe(500);
}

async function ready(here: Ground): Promise<void> {
  await expect.poll(async () => (await here.get('/readyz')).status, LIMIT).toBe(200);
}

async function counts(here: Ground): Promise<{ readonly sandboxes: number; readonly containers: number }> {
  using client = plainClient(here.endpoint);
  const { items = [] } = await client.call('ListPodSandbox', {});
  const { containers = [] } = await client.call('ListContainers', {});
  return { sandboxes: items.length, containers: containers.length };
}
