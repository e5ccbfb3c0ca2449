import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('SIGTERM', () => {
  test('ends the agent within two seconds with code 0, and its pods run on under the next agent', async () => {
    const node = await testNode();
    node.dropManifest('calm.yaml', podYaml({ name: 'calm', run: OBEDIENT }));
    await node.start();
    const before = await node.whenRunning('calm');

    const exit = await node.signal('SIGTERM');
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(exit.took).toBeLessThan(2_000);
    expect(await node.running('calm')).toEqual([before]);

    await node.start();
    await until('the pod to be served as running', async () => (await node.pod('calm'))?.status.phase === 'Running');
    expect(await node.running('calm')).toEqual([before]);
  });

  test('with --stop-pods-on-exit ends the pods first', async () => {
    const node = await testNode();
    node.dropManifest('guest.yaml', podYaml({ name: 'guest', run: OBEDIENT }));
    await node.start('--stop-pods-on-exit');
    const { id } = await node.whenRunning('guest');

    expect(await node.signal('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(await node.running('guest')).toEqual([]);
    expect((await node.runtime.sandboxes()).filter(({ ready }) => ready)).toEqual([]);
    const left = (await node.runtime.containers()).filter((container) => container.id === id);
    for (const container of left) expect(container.state).toBe('exited');
  });
});

describe('an agent that was killed', () => {
  test('replaces, when it comes back, the pod whose manifest changed meanwhile, and ends the one whose manifest is gone', async () => {
    const node = await testNode();
    node.dropManifest('changed.yaml', podYaml({ name: 'changed', run: OBEDIENT, env: { V: 'old' } }));
    node.dropManifest('vanished.yaml', podYaml({ name: 'vanished', run: OBEDIENT }));
    node.dropManifest('same.yaml', podYaml({ name: 'same', run: OBEDIENT }));
    await node.start();
    const changed = await node.whenRunning('changed');
    const same = await node.whenRunning('same');
    await node.whenRunning('vanished');

    await node.signal('SIGKILL');
    node.dropManifest('changed.yaml', podYaml({ name: 'changed', run: OBEDIENT, env: { V: 'new' } }));
    node.removeManifest('vanished.yaml');
    await node.start();

    await node.whenRunning('changed', ({ id }) => id !== changed.id);
    await node.whenGone('vanished');
    expect(await node.running('same')).toEqual([same]);
  });

  test('starts the container that died while it was away', async () => {
    const node = await testNode();
    node.dropManifest('died.yaml', podYaml({ name: 'died', run: OBEDIENT }));
    await node.start();
    const before = await node.whenRunning('died');

    await node.signal('SIGKILL');
    process.kill((await node.runtime.times(before.id)).pid, 'SIGKILL');
    await until('it to be dead', async () => (await node.running('died')).length === 0);
    await node.start();

    const after = await node.whenRunning('died');
    expect(after).toMatchObject({ attempt: 1, sandboxId: before.sandboxId });
  });
});
