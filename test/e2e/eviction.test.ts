import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container } from '../../src/model/pod.ts';
import { podJson, shell } from './harness/pod-json.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const ANNOTATIONS = { 'rxlet.dev/max-container-restart-period': '10s' };
const FOREVER = 'while :; do sleep 3600; done';

describe('a pod that takes more of the disk than it may', () => {
  test('is evicted, be it by volume, log or layer, kept out over a restart of the agent, and begins anew', async () => {
    const node = await testNode();
    const folder = join(node.paths.manifests, '..', 'folder');
    mkdirSync(folder);

    /** Writes 3 MB in its first life, and tells what it finds in the next. */
    function drop(name: string, write: string, more: Partial<Container>): void {
      const run = `if mkdir /node/${name}; then ${write}; else ls -A /v > /node/${name}/found; fi; ${FOREVER}`;
      const text = podJson({
        name,
        annotations: ANNOTATIONS,
        volumes: [
          { name: 'e', emptyDir: name === 'volume' ? { sizeLimit: '1Mi' } : {} },
          { name: 'node', hostPath: { path: folder } },
        ],
        containers: [
          shell('main', run, {
            ...more,
            volumeMounts: [
              { name: 'e', mountPath: '/v' },
              { name: 'node', mountPath: '/node' },
            ],
          }),
        ],
      });
      node.dropManifest(`${name}.yaml`, text);
    }
    const limited = { resources: { limits: { 'ephemeral-storage': '1Mi' } } };
    drop('volume', 'dd if=/dev/zero of=/v/big bs=1M count=3', {});
    drop('log', 'yes 0123456789 | head -c 3000000', limited);
    drop('layer', 'dd if=/dev/zero of=/big bs=1M count=3; : > /node/layer/written', limited);
    await node.start();

    const ofPod = /^Pod ephemeral local storage usage exceeds the total limit of containers 1Mi\. /;
    // Watched all the time: it may be evicted before the restart and begin anew, or after it.
    const layer = evicted(node, 'layer', ofPod);
    await Promise.all([
      evicted(node, 'volume', /^Usage of EmptyDir volume "e" exceeds the limit "1Mi"\. /),
      evicted(node, 'log', ofPod),
      until('the layer to be written', () => existsSync(join(folder, 'layer', 'written'))),
    ]);
    await node.signal('SIGKILL');
    await node.start();
    await Promise.all([
      layer,
      ...['volume', 'log', 'layer'].map((name) =>
        until(`${name} to begin anew`, () => existsSync(join(folder, name, 'found'))),
      ),
    ]);
    expect(readFileSync(join(folder, 'volume', 'found'), 'utf8')).toBe('');
    await Promise.all(['volume', 'log', 'layer'].map((name) => node.whenRunning(name)));
  });
});

/** Resolves once a pod is shown as evicted, for this reason, by the node. */
async function evicted(node: TestNode, name: string, message: RegExp): Promise<void> {
  await until(`${name} to be evicted`, async () => {
    const status = (await node.pod(name))?.status;
    if (status?.reason !== 'Evicted') return false;
    expect(status.phase).toBe('Failed');
    expect(status.message).toMatch(message);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }),
    );
    return true;
  });
}
