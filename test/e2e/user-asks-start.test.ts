import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shell } from './harness/pod-json.ts';
import { killContainerd, startContainerd } from './harness/private-node.ts';
import { lives, note, tellStory } from './harness/story.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** Of the network of this node, on which nobody else listens. */
const PORT = 10250;

describe('what users complained about, at a start of the agent', () => {
  test('#19, #20: needs no key and says that it is standalone; with a port it makes its keys itself', async () => {
    const node = await testNode();
    await node.start();
    await until('the mode to be told', () => node.log().includes('"mode":"standalone"'));
    expect(existsSync(join(node.paths.root, 'pki'))).toBe(false);

    await node.signal('SIGTERM');
    await node.start('--address=127.0.0.1', `--port=${PORT}`);
    await until('the server to have made its keys', () =>
      ['ca.key', 'kubelet.key', 'client.key'].every((key) => existsSync(join(node.paths.root, 'pki', key))),
    );
    await until('it to listen', () => node.log().includes(`127.0.0.1:${PORT}`));
  });

  test('#26: refuses nothing for what it does not know yet while the runtime is away', async () => {
    const node = await testNode();
    await killContainerd();
    try {
      const pod = tellStory(node, 'demanding');
      pod.tell({
        containers: [
          shell('main', lives(note('begins')), { resources: { requests: { cpu: '500m', memory: '32Mi' } } }),
        ],
      });
      await node.start();
      await until('the agent to wait', () => node.log().includes('waiting for the container runtime'));
      expect((await node.pods()).filter(({ status }) => status.phase === 'Failed')).toEqual([]);
    } finally {
      await startContainerd();
    }
    await node.whenRunning('demanding');
    expect(node.log()).not.toMatch(/OutOf|UnexpectedAdmissionError/);
  });

  test('#67, #68: volumes of a pod that is gone are unmounted, and what else is mounted there is left alone and told once; no data is lost', async () => {
    const node = await testNode();
    const data = join(node.paths.manifests, '..', 'data');
    const left = join(node.paths.root, 'pods', 'left');
    const gone = join(node.paths.root, 'pods', 'gone');
    const volume = join(gone, 'volumes', 'kubernetes.io~nfs', 'data');
    const mounted = join(left, 'data');
    for (const folder of [data, mounted, volume]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(data, 'precious'), 'all there is');
    for (const target of [mounted, volume]) execFileSync('mount', ['--bind', data, target]);
    await node.start();

    await until('the pod to be told', () => node.log().includes('/pods/left'));
    const other = tellStory(node, 'other');
    other.tell({ containers: [shell('main', lives(note('begins')))] });
    await node.whenRunning('other');
    other.remove();
    await node.whenGone('other');
    expect(readFileSync(join(data, 'precious'), 'utf8')).toBe('all there is');
    await until('the folder of the pod that is gone to be removed', () => !existsSync(gone));
    expect(readFileSync(join(mounted, 'precious'), 'utf8')).toBe('all there is');
    expect(
      node
        .log()
        .split('\n')
        .filter((line) => line.includes('/pods/left')),
    ).toHaveLength(1);

    await node.signal('SIGTERM');
    execFileSync('umount', [mounted]);
    await node.start();
    await until('the folder to be removed', () => !existsSync(left));
    expect(readFileSync(join(data, 'precious'), 'utf8')).toBe('all there is');
  });
});
