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
    // Other tests may have left images, too.
    await until('the metrics to count what the log tells', async () => {
      const removals = node.log().match(/"removed an image that was unused for too long"/g) ?? [];
      const metrics = await ask(node.paths.socket, '/metrics');
      return metrics.includes(`kubelet_image_garbage_collected_total{reason="age"} ${removals.length}\n`);
    });
    expect(node.runtime.images()).toEqual(expect.arrayContaining([BUSYBOX, PAUSE]));
    expect((await node.whenRunning('keeper')).id).toBe(keeper.id);

    node.dropManifest('another.yaml', podYaml({ name: 'another', run: OBEDIENT }));
    await node.whenRunning('another');
  });

  test('that only a job which is done holds goes when the disk is short, its container before it, and the job stays done', async () => {
    const registry = await startRegistry();
    const image = `${registry.host}/team/job:1`;
    await registry.push('team/job', '1', 'an image of its own');
    const node = await testNode();
    const config = join(node.paths.root, '../config.yaml');
    writeFileSync(
      config,
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
imageMinimumGCAge: 1s
evictionHard: { imagefs.available: 99% }
`,
    );
    const flags = [`--config=${config}`, '--image-gc-high-threshold=99'];
    node.dropManifest('keeper.yaml', podYaml({ name: 'keeper', run: OBEDIENT }));
    const once = podYaml({ name: 'job', run: 'exit 0' }).replace('spec:', 'spec:\n  restartPolicy: OnFailure');
    node.dropManifest('job.yaml', once.replace(BUSYBOX, image));
    await node.start(...flags);
    const keeper = await node.whenRunning('keeper');
    const isDone = async (): Promise<boolean> => {
      const status = (await node.pod('job'))?.status;
      return status?.phase === 'Succeeded' && status.containerStatuses?.[0]?.state?.terminated?.exitCode === 0;
    };
    await until('the job to be done', isDone);
    await until('its container to be gone', async () =>
      (await node.runtime.containers()).every(({ pod }) => pod !== 'job'),
    );
    await until('the log to tell it', () => node.log().includes('removed a container that has ended to make room'));
    expect(await isDone()).toBe(true);
    await node.signal('SIGTERM');
    await node.start(...flags);
    // That one counts no image as new that it found.
    await until('the image to be gone', () => !node.runtime.images().includes(image));
    await until('the next agent to show it as done', isDone);
    expect((await node.whenRunning('keeper')).id).toBe(keeper.id);
    expect((await node.runtime.containers()).map(({ pod }) => pod)).toEqual(['keeper']);
  });
});
