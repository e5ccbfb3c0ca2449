import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('a node with room for one pod', () => {
  test('refuses the second, says why, and starts it when the first is removed', async () => {
    const node = await testNode();
    await node.start('--max-pods', '1');
    node.dropManifest('first.yaml', podYaml({ name: 'first', run: OBEDIENT }));
    await node.whenRunning('first');

    node.dropManifest('second.yaml', podYaml({ name: 'second', run: OBEDIENT }));
    const refused = await until('the second pod to be refused', async () => {
      const pod = await node.pod('second');
      return pod?.status.phase === 'Failed' && pod;
    });
    expect(refused.status.message).toMatch(/^Pod was rejected: .*\(res: pods, q: 1\)/);
    expect(await node.running('second')).toEqual([]);

    node.removeManifest('first.yaml');
    await node.whenRunning('second');
    const taken = await until('the second pod to be told as running', async () => {
      const pod = await node.pod('second');
      return pod?.status.phase === 'Running' && pod;
    });
    expect(taken.status.reason).toBeUndefined();
  });

  test('does not refuse what runs already when the agent starts again with less room', async () => {
    const node = await testNode();
    node.dropManifest('one.yaml', podYaml({ name: 'one', run: OBEDIENT }));
    node.dropManifest('two.yaml', podYaml({ name: 'two', run: OBEDIENT }));
    await node.start();
    const before = await Promise.all(['one', 'two'].map((pod) => node.whenRunning(pod)));

    await node.signal('SIGTERM');
    await node.start('--max-pods', '1');
    node.dropManifest('three.yaml', podYaml({ name: 'three', run: OBEDIENT }));
    await until('the third pod to be refused', async () => (await node.pod('three'))?.status.phase === 'Failed');
    const after = await Promise.all(['one', 'two'].map((pod) => node.whenRunning(pod)));
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });
});

describe('a node with labels', () => {
  test('takes a pod that selects one of them', async () => {
    const node = await testNode();
    await node.start('--node-labels', 'disk=ssd');
    node.dropManifest(
      'picky.yaml',
      podYaml({ name: 'picky', run: OBEDIENT }).replace('spec:', 'spec:\n  nodeSelector: {disk: ssd}'),
    );
    await node.whenRunning('picky');
  });
});
