import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('a malformed edit', () => {
  test('leaves the pod untouched and is reported with its place; the mended edit is applied', async () => {
    const node = await testNode();
    const good = podYaml({ name: 'precious', run: OBEDIENT });
    node.dropManifest('precious.yaml', good);
    await node.start();
    const before = await node.whenRunning('precious');

    node.dropManifest('precious.yaml', good.replace('containers:', 'containers: ['));
    const [problem] = await until('the problem', async () => {
      const problems = await node.problems();
      return problems.length > 0 && problems;
    });
    expect(problem?.origin).toMatch(/precious\.yaml$/);
    expect(problem?.position?.line).toBeGreaterThan(5);
    expect(await node.running('precious')).toEqual([before]);

    node.dropManifest('precious.yaml', good.replace('name: main', 'name: mended'));
    expect(await node.whenRunning('precious', ({ id }) => id !== before.id)).toMatchObject({ name: 'mended' });
    await until('the problem to be gone', async () => (await node.problems()).length === 0);
  });
});

describe('two manifests that claim one name', () => {
  test('#2: leave the running pod alone, and the other is a problem that names both files', async () => {
    const node = await testNode();
    node.dropManifest('second.yaml', podYaml({ name: 'twin', run: OBEDIENT, env: { FROM: 'second' } }));
    await node.start();
    const before = await node.whenRunning('twin');

    node.dropManifest('first.yaml', podYaml({ name: 'twin', run: OBEDIENT, env: { FROM: 'first' } }));
    const [problem] = await until('the problem', async () => {
      const problems = await node.problems();
      return problems.length > 0 && problems;
    });
    expect(problem?.origin).toMatch(/first\.yaml$/);
    expect(problem?.message).toContain('second.yaml');
    expect(await node.running('twin')).toEqual([before]);

    node.removeManifest('second.yaml');
    await node.whenRunning('twin', ({ id }) => id !== before.id);
    await until('the problem to be gone', async () => (await node.problems()).length === 0);
  });
});
