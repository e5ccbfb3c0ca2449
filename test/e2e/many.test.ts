import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const COUNT = 30;
/** Milliseconds: thirty pods on two slow cores. */
const LIMIT = 240_000;

describe('thirty manifests at once', () => {
  test('that are moved in as a directory all run, each once', async () => {
    const node = await testNode();
    await node.start();
    const staged = stage(node);

    rmdirSync(node.paths.manifests);
    renameSync(staged, node.paths.manifests);
    await allRunning(node);
    await expectEachOnce(node);
    expect(await node.runtime.containers()).toHaveLength(COUNT);
    expect(await node.runtime.sandboxes()).toHaveLength(COUNT);
  });

  test('all run, each once, though the agent is killed while it starts them; what ran before still runs', async () => {
    const node = await testNode();
    await node.start();
    const staged = stage(node);

    for (let i = 0; i < COUNT; i++) renameSync(join(staged, file(i)), join(node.paths.manifests, file(i)));
    const before = await until('some to run', async () => {
      const ids = await runningIds(node);
      return ids.length >= 5 && ids;
    });
    await node.signal('SIGKILL');

    await node.start();
    await allRunning(node);
    await expectEachOnce(node);
    expect(await runningIds(node)).toEqual(expect.arrayContaining(before));
  });
});

function stage(node: TestNode): string {
  const staged = `${node.paths.manifests}-staged`;
  mkdirSync(staged);
  for (let i = 0; i < COUNT; i++) writeFileSync(join(staged, file(i)), podYaml({ name: `many-${i}`, run: OBEDIENT }));
  return staged;
}

function file(i: number): string {
  return `many-${i}.yaml`;
}

async function runningIds(node: TestNode): Promise<string[]> {
  return (await node.runtime.containers()).filter(({ state }) => state === 'running').map(({ id }) => id);
}

/** In the eyes of the runtime and of the agent: a pod whose container is being restarted has the phase Running, too. */
async function allRunning(node: TestNode): Promise<void> {
  await until('all of them to run', async () => (await runningIds(node)).length >= COUNT, LIMIT);
  await until('all of them to be served as running', async () => {
    const pods = await node.pods();
    return pods.filter(({ status }) => status.containerStatuses?.at(0)?.state?.running).length === COUNT;
  });
}

/**
 * One ready sandbox and one running container per pod, told as such by the agent. What containerd was about to make when
 * its agent was killed may be there too, but has ended before its successor began.
 */
async function expectEachOnce(node: TestNode): Promise<void> {
  const names = Array.from({ length: COUNT }, (_, i) => `many-${i}`).sort();
  await until('surplus sandboxes to be ended', async () => {
    const ready = (await node.runtime.sandboxes()).filter((sandbox) => sandbox.ready);
    return ready.length <= COUNT;
  });
  const sandboxes = (await node.runtime.sandboxes()).filter(({ ready }) => ready);
  expect(sandboxes.map(({ pod }) => pod).sort()).toEqual(names);

  const containers = await node.runtime.containers();
  const running = containers.filter(({ state }) => state === 'running');
  expect(running.map(({ pod }) => pod).sort()).toEqual(names);
  for (const other of containers.filter(({ state }) => state !== 'running')) {
    expect(other).toMatchObject({ state: 'exited', attempt: 0 });
    const successor = running.find(({ pod }) => pod === other.pod);
    const { startedAt } = await node.runtime.times(successor?.id ?? '');
    expect((await node.runtime.times(other.id)).finishedAt).toBeLessThanOrEqual(startedAt);
  }

  const told = (await node.pods()).map(({ status: { phase, containerStatuses = [] } }) => ({
    phase,
    containers: containerStatuses.map(({ containerID, restartCount }) => [containerID, restartCount]),
  }));
  expect(told).toHaveLength(COUNT);
  for (const { id, attempt } of running)
    expect(told).toContainEqual({ phase: 'Running', containers: [[`containerd://${id}`, attempt]] });
}
