import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container, PodSpec } from '../../src/model/pod.ts';
import { ask } from './harness/local-api.ts';
import { podJson, shell } from './harness/pod-json.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const FOREVER = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";
const PASSWORD = 'correct-horse-battery';

function object(kind: string, name: string, fields: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind, metadata: { name }, ...fields });
}

function podOf(container: Partial<Container>, volumes: PodSpec['volumes'] = [], annotations = {}, run = ':'): string {
  const main = shell('main', `${run}; ${FOREVER}`, container);
  const manifest = JSON.parse(
    podJson({ name: 'v', annotations, terminationGracePeriodSeconds: 1, containers: [main] }),
  ) as {
    spec: object;
  };
  return JSON.stringify({ ...manifest, spec: { ...manifest.spec, volumes } });
}

/** Runs a command in the mount namespace of the pod's container, and tells what it printed. */
async function inside(node: TestNode, ...command: readonly string[]): Promise<string> {
  const { id } = await node.whenRunning('v');
  const { pid } = await node.runtime.times(id);
  return execFileSync('nsenter', ['-t', String(pid), '-m', '-p', ...command], { encoding: 'utf8' }).trim();
}

async function variables(node: TestNode): Promise<readonly string[]> {
  const { id } = await node.whenRunning('v');
  const { pid } = await node.runtime.times(id);
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
}

/** Every file below a folder, but what is mounted there. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return statSync(path).dev === statSync(folder).dev ? filesBelow(path) : [];
    return entry.isFile() ? [path] : [];
  });
}

describe('objects in manifests', () => {
  test('serve variables and volumes; a change is seen in the volume, and secrets are nowhere else', async () => {
    const node = await testNode();
    node.dropManifest('config.yaml', object('ConfigMap', 'web', { data: { color: 'red', file: 'one' } }));
    node.dropManifest('secret.yaml', object('Secret', 'login', { stringData: { password: PASSWORD } }));
    node.dropManifest(
      'v.yaml',
      podOf(
        {
          env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } }],
          envFrom: [{ prefix: 'C_', configMapRef: { name: 'web' } }],
          volumeMounts: [
            { name: 'c', mountPath: '/c' },
            { name: 's', mountPath: '/s' },
            { name: 'p', mountPath: '/p' },
          ],
        },
        [
          { name: 'c', configMap: { name: 'web' } },
          { name: 's', secret: { secretName: 'login', defaultMode: 0o400 } },
          {
            name: 'p',
            projected: { sources: [{ secret: { name: 'login', items: [{ key: 'password', path: 'a/b' }] } }] },
          },
        ],
      ),
    );
    await node.start();
    const { id } = await node.whenRunning('v');
    expect(await variables(node)).toEqual(
      expect.arrayContaining([`PASSWORD=${PASSWORD}`, 'C_color=red', 'C_file=one']),
    );
    expect(await inside(node, 'cat', '/c/color', '/c/file')).toBe('redone');
    expect(await inside(node, 'cat', '/s/password')).toBe(PASSWORD);
    expect(await inside(node, 'cat', '/p/a/b')).toBe(PASSWORD);
    expect(await inside(node, 'stat', '-Lc', '%a', '/s/password')).toBe('400');
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
    for (const plugin of ['kubernetes.io~secret/s', 'kubernetes.io~projected/p']) {
      expect(
        mounts.filter(([, target = '']) => target.startsWith(node.paths.root) && target.endsWith(plugin)),
      ).toMatchObject([{ 2: 'tmpfs' }]);
    }

    node.dropManifest('config.yaml', object('ConfigMap', 'web', { data: { color: 'blue', more: 'two' } }));
    await until(
      'the change to be seen in the container',
      async () => (await inside(node, 'cat', '/c/color')) === 'blue',
    );
    await until('the names to follow', async () => (await inside(node, 'ls', '/c')) === 'color\nmore');
    expect((await node.whenRunning('v')).id).toBe(id);

    node.dropManifest('secret.yaml', object('Secret', 'login', { stringData: { password: 7 } }));
    await until('the broken Secret to be told', async () => (await node.problems()).length > 0);
    expect(await inside(node, 'cat', '/s/password')).toBe(PASSWORD);

    const encoded = Buffer.from(PASSWORD).toString('base64');
    const told = [
      node.log(),
      ...(await Promise.all(
        ['/pods', '/rxlet/view', '/rxlet/problems', '/rxlet/events'].map((path) => ask(node.paths.socket, path)),
      )),
      ...filesBelow(node.paths.root).map((path) => readFileSync(path, 'latin1')),
    ];
    for (const text of told) {
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toContain(encoded);
    }
  });

  test('are named where they are missing, and the pod starts the moment they appear', async () => {
    const node = await testNode();
    node.dropManifest(
      'v.yaml',
      podOf({ envFrom: [{ configMapRef: { name: 'late' } }], volumeMounts: [{ name: 's', mountPath: '/s' }] }, [
        { name: 's', secret: { secretName: 'later' } },
      ]),
    );
    await node.start();
    await until('the missing Secret to be named', async () =>
      (await ask(node.paths.socket, '/rxlet/events')).includes('secret \\"later\\" not found'),
    );
    node.dropManifest('secret.yaml', object('Secret', 'later', { stringData: { a: 'b' } }));
    await until('the missing ConfigMap to be a reason to wait', async () => {
      const waiting = (await node.pod('v'))?.status.containerStatuses?.[0]?.state?.waiting;
      return waiting?.reason === 'CreateContainerConfigError' && waiting.message === 'configmap "late" not found';
    });
    node.dropManifest('config.yaml', object('ConfigMap', 'late', { data: { A: 'b' } }));
    expect(await variables(node)).toContain('A=b');
  });

  test('restart those once that have variables from them and ask for it', async () => {
    const node = await testNode();
    node.dropManifest('config.yaml', object('ConfigMap', 'web', { data: { A: '1' } }));
    const asking = { 'rxlet.dev/restart-on-config-change': 'true' };
    node.dropManifest('v.yaml', podOf({ envFrom: [{ configMapRef: { name: 'web' } }] }, [], asking));
    await node.start();
    const { id } = await node.whenRunning('v');
    await node.signal('SIGKILL');
    node.dropManifest('config.yaml', object('ConfigMap', 'web', { data: { A: '2' } }));
    await node.start();
    await node.whenRunning('v', (container) => container.id !== id);
    expect(await variables(node)).toContain('A=2');
    await until('one restart to be told', async () => {
      return (await node.pod('v'))?.status.containerStatuses?.[0]?.restartCount === 1;
    });
  });

  test('keep the folder of a claim over the pods that use it', async () => {
    const node = await testNode();
    node.dropManifest(
      'claim.yaml',
      object('PersistentVolumeClaim', 'data', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
    );
    const claim: PodSpec['volumes'] = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }];
    const mount = { volumeMounts: [{ name: 'd', mountPath: '/d' }] };
    node.dropManifest('v.yaml', podOf(mount, claim, {}, 'echo one >> /d/log'));
    await node.start();
    const { id } = await node.whenRunning('v');
    await until('the first pod to write', async () => (await inside(node, 'cat', '/d/log')) === 'one');
    node.dropManifest('v.yaml', podOf(mount, claim, {}, 'echo two >> /d/log'));
    await node.whenRunning('v', (container) => container.id !== id);
    await until('the second pod to write', async () => (await inside(node, 'cat', '/d/log')) === 'one\ntwo');
    node.removeManifest('v.yaml');
    await node.whenGone('v');
    expect(existsSync(join(node.paths.root, 'volumes/default/data/log'))).toBe(true);
  });
});
