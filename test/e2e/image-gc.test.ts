import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ask } from './harness/local-api.ts';
import { BUSYBOX } from './harness/pod-json.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { startRegistry } from './harness/registry.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const PAUSE = 'rxlet.test/pause:1';

afterEach(() => {
  // Whatever a failure left: other tests run with them.
  for (const name of ['busybox', 'pause'])
    execFileSync('ctr', ['-n', 'k8s.io', 'images', 'import', join(process.env['RXLET_IMAGES'] ?? '', `${name}.tar`)]);
});

describe('images', () => {
  test('#61: one that nobody uses any more goes; one in use and that of the sandboxes stay', async () => {
    const registry = await startRegistry();
    const image = `${registry.host}/team/brief:1`;
    await registry.push('team/brief', '1', 'an image of its own');
    const node = await testNode();
    const config = join(node.paths.root, '../config.yaml');
    writeFileSync(
      config,
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
imageMinimumGCAge: 1s
imageMaximumGCAge: 3s
`,
    );
    node.dropManifest('keeper.yaml', podYaml({ name: 'keeper', run: OBEDIENT }));
    node.dropManifest('brief.yaml', podYaml({ name: 'brief', run: OBEDIENT }).replace(BUSYBOX, image));
    await node.start(`--config=${config}`);
    const keeper = await node.whenRunning('keeper');
    await node.whenRunning('brief');
    expect(node.runtime.images()).toEqual(expect.arrayContaining([image, BUSYBOX, PAUSE]));

    node.removeManifest('brief.yaml');
    await node.whenGone('brief');
    await until('its image to be gone', () => !node.runtime.images().includes(image));
    const told = /"removed an image that was unused for too long","image":"[^"]*team\/brief:1"/;
    await until('the log to tell it', () => told.test(node.log()));
    expect(await ask(node.paths.socket, '/metrics')).toContain(
      'kubelet_image_garbage_collected_total{reason="age"} 1\n',
    );
    expect(node.runtime.images()).toEqual(expect.arrayContaining([BUSYBOX, PAUSE]));
    expect((await node.whenRunning('keeper')).id).toBe(keeper.id);

    node.dropManifest('another.yaml', podYaml({ name: 'another', run: OBEDIENT }));
    await node.whenRunning('another');
  });
});
