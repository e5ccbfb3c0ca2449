import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { podJson, shell } from './harness/pod-json.ts';
import { OBEDIENT } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

function podOfOwnUsers(name: string): string {
  const main = shell('main', `echo own > /v/file; ${OBEDIENT}`, { volumeMounts: [{ name: 'v', mountPath: '/v' }] });
  return podJson({ name, hostUsers: false, volumes: [{ name: 'v', emptyDir: {} }], containers: [main] });
}

describe('a pod with hostUsers: false', () => {
  test('runs with ids that no other pod has, or waits with the reason where the runtime cannot give it any', async () => {
    const node = await testNode();
    await node.start();
    node.dropManifest('one.yaml', podOfOwnUsers('one'));
    node.dropManifest('two.yaml', podOfOwnUsers('two'));

    if (!(await node.runtime.hasUserNamespaces())) {
      const refusal = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
      await until('both to tell why they wait', async () => {
        const notes = (await node.view()).pods.map(({ note = '' }) => note);
        return notes.length === 2 && notes.every((note) => note === refusal);
      });
      expect(node.log()).toContain('FailedCreatePodSandBox');
      return;
    }

    const maps = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const { id, uid } = await node.whenRunning(name);
        const { pid } = await node.runtime.times(id);
        const [inside, outside, length] = readFileSync(`/proc/${pid}/uid_map`, 'utf8').trim().split(/\s+/).map(Number);
        expect({ inside, length }).toEqual({ inside: 0, length: 65_536 });
        // The volume is mounted with its ids mapped: what root of the pod writes is root's on the node.
        const file = join(node.paths.root, 'pods', uid, 'volumes/kubernetes.io~empty-dir/v/file');
        const owner = await until('the file in the volume', () => statSync(file, { throwIfNoEntry: false })?.uid);
        expect(owner).toBe(0);
        return outside ?? 0;
      }),
    );
    expect(Math.min(...maps)).toBeGreaterThanOrEqual(65_536);
    expect(Math.abs((maps[0] ?? 0) - (maps[1] ?? 0))).toBeGreaterThanOrEqual(65_536);
  });
});
