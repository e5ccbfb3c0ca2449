import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('a deleted manifest', () => {
  test('ends its pod long before its grace is over when it obeys, and nothing of it is left', async () => {
    const node = await testNode();
    const folder = join(node.paths.manifests, '..', 'folder');
    mkdirSync(folder);
    const run = "trap 'exit 0' TERM; : > /node/begun; while :; do sleep 3600 & wait; done";
    node.dropManifest('short.yaml', podYaml({ name: 'short', run, grace: 600, folder }));
    await node.start();
    const { uid } = await node.whenRunning('short');
    await until('it to begin', () => existsSync(join(folder, 'begun')));
    expect(readdirSync(join(node.paths.root, 'pods'))).toEqual([uid]);

    node.removeManifest('short.yaml');
    await node.whenGone('short');
    await until('/pods to be empty', async () => (await node.pods()).length === 0);
    await until('its directory to be gone', () => !existsSync(join(node.paths.root, 'pods', uid)));
    await until('its logs to be gone', () => !readdirSync('/var/log/pods').some((name) => name.endsWith(uid)));
  });

  test('gives a deaf pod its whole grace, then ends it by force', async () => {
    const node = await testNode();
    const folder = join(node.paths.manifests, '..', 'folder');
    mkdirSync(folder);
    const run = "trap '' TERM; : > /node/begun; while :; do sleep 1; done";
    node.dropManifest('deaf.yaml', podYaml({ name: 'deaf', run, grace: 4, folder }));
    await node.start();
    await node.whenRunning('deaf');
    await until('it to begin', () => existsSync(join(folder, 'begun')));

    const asked = performance.now();
    node.removeManifest('deaf.yaml');
    await until('it to be ended', async () => (await node.running('deaf')).length === 0);
    expect(performance.now() - asked).toBeGreaterThan(3_900);
    await node.whenGone('deaf');
  });

  test('#4: that comes back while its pod still ends, runs again once that has ended', async () => {
    const node = await testNode();
    const folder = join(node.paths.manifests, '..', 'folder');
    mkdirSync(folder);
    const run = `trap 'echo asked >> /node/notes; sleep 2; echo end >> /node/notes; exit 0' TERM; echo start >> /node/notes; while :; do sleep 3600 & wait; done`;
    const notes = (): string[] => readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n');
    node.dropManifest('slow.yaml', podYaml({ name: 'slow', run, grace: 120, folder }));
    await node.start();
    await until('it to begin', () => existsSync(join(folder, 'notes')));

    node.removeManifest('slow.yaml');
    await until('it to be asked to end', () => notes().includes('asked'));
    node.dropManifest('slow.yaml', podYaml({ name: 'slow', run, grace: 120, folder }));
    await until('it to begin again', () => notes().at(-1) === 'start' && notes().length > 2);
    expect(notes()).toEqual(['start', 'asked', 'end', 'start']);
    await node.whenRunning('slow');
  });
});
