import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('a container that is killed', () => {
  test('is started again in the same sandbox, and its restarts are counted on over a restart of the agent', async () => {
    const node = await testNode();
    node.dropManifest('fragile.yaml', podYaml({ name: 'fragile', run: OBEDIENT }));
    await node.start();
    const first = await node.whenRunning('fragile');

    await kill(node, first.id);
    const second = await node.whenRunning('fragile', ({ id }) => id !== first.id);
    expect(second).toMatchObject({ sandboxId: first.sandboxId, attempt: 1 });
    await until('one restart to be served', async () => (await restarts(node)) === 1);

    expect(await node.signal('SIGTERM')).toMatchObject({ code: 0 });
    await node.start();
    await until('the count to be served again', async () => (await restarts(node)) === 1);
    expect(await node.running('fragile')).toEqual([second]);

    await kill(node, second.id);
    const third = await node.whenRunning('fragile', ({ id }) => id !== second.id);
    expect(third).toMatchObject({ sandboxId: first.sandboxId, attempt: 2 });
    await until('two restarts to be served', async () => (await restarts(node)) === 2);
  });

  test('stays ended when its pod never restarts', async () => {
    const node = await testNode();
    node.dropManifest('once.yaml', `${podYaml({ name: 'once', run: 'exit 3' })}  restartPolicy: Never\n`);
    await node.start();

    const pod = await until('the pod to have failed', async () => {
      const found = await node.pod('once');
      return found?.status.phase === 'Failed' && found;
    });
    expect(pod.status.containerStatuses?.at(0)?.state?.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect((await node.runtime.containers()).filter((container) => container.pod === 'once')).toHaveLength(1);
  });
});

async function kill(node: TestNode, containerId: string): Promise<void> {
  process.kill((await node.runtime.times(containerId)).pid, 'SIGKILL');
}

async function restarts(node: TestNode): Promise<number | undefined> {
  return (await node.pod('fragile'))?.status.containerStatuses?.at(0)?.restartCount;
}
