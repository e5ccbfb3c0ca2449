import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Kills the agent the moment the first of several containers is started: the runtime is in the midst of the others. */
async function killedInStart(): Promise<TestNode> {
  const node = await testNode();
  await node.start();
  for (const name of NAMES) node.dropManifest(`${name}.yaml`, podYaml({ name, run: OBEDIENT }));
  await until('a container to be made', async () => (await node.runtime.containers()).length > 0);
  await node.signal('SIGKILL');
  return node;
}

describe('an agent that is killed while the runtime starts containers', () => {
  test('is followed by one that removes all of them when they are not wanted any more', async () => {
    const node = await killedInStart();
    for (const name of NAMES) node.removeManifest(`${name}.yaml`);
    await node.start();
    for (const name of NAMES) await node.whenGone(name);
    expect(await node.runtime.sandboxes()).toEqual([]);
  });

  test('is followed by one that brings all of them to run', async () => {
    const node = await killedInStart();
    await node.start();
    for (const name of NAMES) await node.whenRunning(name);
  });
});
