import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { followRxlet, rxlet } from './harness/cli.ts';
import { ask } from './harness/local-api.ts';
import { BUSYBOX } from './harness/pod-json.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

/** A claim, and a pod that tells in its log what it finds there before it writes. */
function withClaim(claim: string): string {
  return `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${claim}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: keeper}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: v, persistentVolumeClaim: {claimName: ${claim}}}]
  containers:
  - name: main
    image: ${BUSYBOX}
    command: [sh, -c, "echo found $(ls /v | wc -l); dd if=/dev/zero of=/v/file bs=1024 count=100 2>/dev/null; ${OBEDIENT}"]
    volumeMounts: [{name: v, mountPath: /v}]
`;
}

describe('rxlet trace', () => {
  test('tells why a container runs again, follows what happens, and draws it', async () => {
    node().dropManifest('traced.yaml', podYaml({ name: 'traced', run: OBEDIENT }));
    const { id } = await node().whenRunning('traced');
    const followed = followRxlet(node(), 'trace', '-f', '--pod', 'traced');
    await until('the past to be told', () =>
      /change +traced-node add by file[^]*outcome +traced-node sync synced/.test(followed.out()),
    );
    process.kill((await node().runtime.times(id)).pid, 'SIGKILL');
    await node().whenRunning('traced', (container) => container.id !== id);
    await until('the restart to be followed', () => {
      const [, after = ''] = followed.out().split(/sighting +traced-node main exited/);
      return /plan +traced-node .*startContainer main[^]*call +traced-node start_container main[^]*outcome +traced-node/.test(
        after,
      );
    });

    const told = await rxlet(node(), 'trace', '--pod', 'traced');
    expect(told).toMatchObject({ code: 0, err: '' });
    expect(told.out).not.toContain('keeper');
    const lines = (await rxlet(node(), 'trace', '-o', 'json', '--pod', 'traced')).out.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { readonly kind: string }).kind)).toEqual(
      expect.arrayContaining(['change', 'phase', 'work', 'plan', 'call', 'note', 'outcome', 'sighting']),
    );

    const marbles = await rxlet(node(), 'trace', '--marbles', '--last', '600');
    expect(marbles).toMatchObject({ code: 0, err: '' });
    for (const row of ['changes', 'sightings', 'phases', 'outcomes', 'traced-node', 'start_container'])
      expect(marbles.out).toMatch(new RegExp(`^${row} +-*[^-\\s]`, 'm'));
    for (const line of marbles.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect((await rxlet(node(), 'trace', '--pod', 'tracde')).err).toContain('Did you mean traced-node?');
  });
});

describe('rxlet volumes', () => {
  test('lists what claims hold and who uses them, and removes only what nobody uses', async () => {
    const folder = join(node().paths.root, 'volumes/default/kept');
    node().dropManifest('keeper.yaml', withClaim('kept'));
    await node().whenRunning('keeper');
    await until('what it wrote to be listed', async () =>
      /^default +kept +10\d KiB +keeper-node$/m.test((await rxlet(node(), 'volumes', 'ls')).out),
    );
    expect((await rxlet(node(), 'volumes', 'ls')).out.split('\n')[0]).toMatch(/^NAMESPACE +CLAIM +SIZE +USED BY$/);
    await until('the metrics to tell it', async () =>
      /^kubelet_volume_stats_used_bytes\{namespace="default",persistentvolumeclaim="kept"\} 10\d{4}$/m.test(
        await ask(node().paths.socket, '/metrics'),
      ),
    );
    const refused = await rxlet(node(), 'volumes', 'rm', 'kept');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('keeper');
    expect(existsSync(join(folder, 'file'))).toBe(true);

    node().removeManifest('keeper.yaml');
    await node().whenGone('keeper');
    await until('the agent to have forgotten it', async () => (await node().pod('keeper')) === undefined);
    expect((await rxlet(node(), 'volumes', 'ls')).out).toMatch(/^default +kept +10\d KiB +-$/m);
    node().dropManifest('keeper.yaml', withClaim('kept'));
    await node().whenRunning('keeper');
    await until('it to have found what it wrote', async () =>
      (await rxlet(node(), 'logs', 'keeper')).out.includes('found 1'),
    );

    node().removeManifest('keeper.yaml');
    await node().whenGone('keeper');
    await until('it to be removed', async () => {
      const { code, out } = await rxlet(node(), 'volumes', 'rm', 'default/kept');
      return code === 0 && out === 'default/kept removed\n';
    });
    expect(existsSync(folder)).toBe(false);
    expect((await rxlet(node(), 'volumes', 'ls')).out).toBe('No volumes.\n');
    expect((await rxlet(node(), 'volumes', 'rm', 'kept')).err).toContain('there is no volume default/kept');
  });
});
