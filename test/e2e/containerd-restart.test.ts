import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { killContainerd, startContainerd } from './harness/private-node.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('a containerd that dies under running pods', () => {
  test('#47: finds them untouched when it comes back: nothing is recreated, and the agent works on', async () => {
    const node = await testNode();
    for (const name of ['one', 'two', 'three']) node.dropManifest(`${name}.yaml`, podYaml({ name, run: OBEDIENT }));
    await node.start();
    for (const name of ['one', 'two', 'three']) await node.whenRunning(name);
    const sandboxes = await node.runtime.sandboxes();
    const containers = await node.runtime.containers();

    await killContainerd();
    node.dropManifest('four.yaml', podYaml({ name: 'four', run: OBEDIENT }));
    await startContainerd();

    // The fourth pod runs, so the agent has reached the runtime again and has had its look at the other three.
    await node.whenRunning('four');
    await until('all to be served as running', async () => {
      const phases = (await node.pods()).map(({ status }) => status.phase);
      return phases.length === 4 && phases.every((phase) => phase === 'Running');
    });
    expect((await node.runtime.sandboxes()).filter(({ pod }) => pod !== 'four')).toEqual(
      expect.arrayContaining([...sandboxes]),
    );
    expect((await node.runtime.sandboxes()).filter(({ pod }) => pod !== 'four')).toHaveLength(3);
    expect(byId((await node.runtime.containers()).filter(({ pod }) => pod !== 'four'))).toEqual(byId(containers));
  });
});

function byId<T extends { readonly id: string }>(things: readonly T[]): readonly T[] {
  return things.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
