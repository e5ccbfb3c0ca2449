import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container, PodSpec } from '../../src/model/pod.ts';
import { podJson, shell } from './harness/pod-json.ts';
import { mountsBelow } from './harness/mounts-below.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

type Volumes = NonNullable<PodSpec['volumes']>;
type Mounts = NonNullable<Container['volumeMounts']>;

interface Draft {
  readonly volumes: Volumes;
  readonly mounts: Mounts;
  /** Shell text; the container then runs until it is ended. */
  readonly run?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly spec?: Partial<PodSpec>;
  readonly container?: Partial<Container>;
}

const FOREVER = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

interface Scene {
  readonly node: TestNode;
  /** A folder of the node for the test. */
  readonly folder: string;
  readonly drop: (draft: Draft) => void;
  /** Runs a command in the mount namespace of the pod's container, and tells what it printed. */
  readonly inside: (...command: readonly string[]) => Promise<string>;
}

/** A node with one pod, `v`, whose container runs for ever. */
async function scene(): Promise<Scene> {
  const node = await testNode();
  const folder = join(node.paths.manifests, '..', 'folder');
  mkdirSync(folder);
  return {
    node,
    folder,
    drop({ volumes, mounts, run = ':', labels, uid, spec = {}, container = {} }) {
      const text = podJson({
        name: 'v',
        terminationGracePeriodSeconds: 1,
        ...spec,
        containers: [shell('main', `${run}; ${FOREVER}`, { volumeMounts: mounts, ...container })],
      });
      const manifest = JSON.parse(text) as { metadata: object; spec: object };
      node.dropManifest(
        'v.yaml',
        JSON.stringify({
          ...manifest,
          metadata: { ...manifest.metadata, ...(labels && { labels }), ...(uid !== undefined && { uid }) },
          spec: { ...manifest.spec, volumes },
        }),
      );
    },
    async inside(...command) {
      const { id } = await node.whenRunning('v');
      const { pid } = await node.runtime.times(id);
      return execFileSync('nsenter', ['-t', String(pid), '-m', '-p', ...command], { encoding: 'utf8' }).trim();
    },
  };
}

function mountsOf(node: TestNode): readonly string[] {
  return mountsBelow(node.paths.root);
}

describe('volumes', () => {
  test('of memory have their size and group, outlive a container and an agent, and go with the pod', async () => {
    const { node, drop, inside } = await scene();
    drop({
      volumes: [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }],
      mounts: [{ name: 'm', mountPath: '/m' }],
      run: 'echo start >> /m/starts',
      spec: { securityContext: { fsGroup: 7778 } },
    });
    await node.start();
    const first = await node.whenRunning('v');
    await until('the container to write', async () => (await inside('cat', '/m/starts')) === 'start');
    expect(await inside('stat', '-c', '%a %u %g', '/m')).toBe('3777 0 7778');
    expect(await inside('sh', '-c', "grep ' /m ' /proc/mounts")).toMatch(/^tmpfs \/m tmpfs .*size=8192k/);

    const { pid } = await node.runtime.times(first.id);
    process.kill(pid, 'SIGKILL');
    await node.whenRunning('v', ({ id }) => id !== first.id);
    await until('the next one to write', async () => (await inside('cat', '/m/starts')) === 'start\nstart');

    await node.signal('SIGKILL');
    await node.start();
    await until('the pod to be known again', async () => (await node.pod('v')) !== undefined);
    expect(await inside('cat', '/m/starts')).toBe('start\nstart');
    expect(mountsOf(node)).toHaveLength(1);

    node.removeManifest('v.yaml');
    await node.whenGone('v');
    await until('the mounts to be gone', () => mountsOf(node).length === 0);
    await until('the folder to be gone', () => !existsSync(join(node.paths.root, 'pods', first.uid)));
  });

  test('that an agent has left mounted are taken away by the next one when their pod is gone', async () => {
    const { node, drop } = await scene();
    drop({ volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }], mounts: [{ name: 'm', mountPath: '/m' }] });
    await node.start();
    const { uid } = await node.whenRunning('v');
    await node.signal('SIGKILL');
    node.removeManifest('v.yaml');
    await node.runtime.wipe();

    await node.start();
    await until('the mounts to be gone', () => mountsOf(node).length === 0);
    await until('the folder to be gone', () => !existsSync(join(node.paths.root, 'pods', uid)));
  });

  test('tell a pod about itself, and follow an edit while it runs', async () => {
    const { node, drop, inside } = await scene();
    const draft = (tier: string): Draft => ({
      uid: '5a3c9d7e-0000-4000-8000-00000000c0de',
      labels: { tier },
      volumes: [
        { name: 'd', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        {
          name: 'p',
          projected: {
            defaultMode: 0o440,
            sources: [
              {
                downwardAPI: {
                  items: [
                    { path: 'a/name', fieldRef: { fieldPath: 'metadata.name' } },
                    {
                      path: 'memory',
                      resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' },
                    },
                  ],
                },
              },
            ],
          },
        },
      ],
      mounts: [
        { name: 'd', mountPath: '/d' },
        { name: 'p', mountPath: '/p' },
      ],
      container: { resources: { limits: { memory: '64Mi' } } },
    });
    drop(draft('edge'));
    await node.start();
    const { id } = await node.whenRunning('v');
    expect(await inside('cat', '/d/labels', '/p/a/name', '/p/memory')).toBe('tier="edge"v-node64');
    expect(await inside('stat', '-L', '-c', '%a', '/d/labels', '/p/memory')).toBe('644\n440');
    expect(await inside('readlink', '/d/labels')).toBe('..data/labels');

    drop(draft('core'));
    await until('the file to follow', async () => (await inside('cat', '/d/labels')) === 'tier="core"');
    expect(await node.running('v')).toMatchObject([{ id }]);
  });

  test('of the node are checked by their type, and the pod starts when the cause is gone', async () => {
    const { node, drop, folder, inside } = await scene();
    const path = join(folder, 'later');
    drop({ volumes: [{ name: 'h', hostPath: { path, type: 'File' } }], mounts: [{ name: 'h', mountPath: '/h' }] });
    await node.start();
    const told = (): boolean =>
      readFileSync(node.paths.log, 'utf8').includes(`hostPath type check failed: ${path} is not a file`);
    await until('the agent to say why', told);
    expect((await node.pod('v'))?.status.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: 'ContainerCreating',
    });
    expect(await node.runtime.sandboxes()).toEqual([]);

    writeFileSync(path, 'here it is');
    expect(await inside('cat', '/h')).toBe('here it is');
  });

  test('are shown in part, never by a link out of them', async () => {
    const { node, drop, folder, inside } = await scene();
    mkdirSync(join(folder, 'in', 'part'), { recursive: true });
    writeFileSync(join(folder, 'in', 'part', 'file'), 'a part');
    writeFileSync(join(folder, 'secret'), 'the secret');
    symlinkSync('../secret', join(folder, 'in', 'out'));
    const volumes: Volumes = [
      { name: 'h', hostPath: { path: join(folder, 'in'), type: 'Directory' } },
      { name: 'e', emptyDir: {} },
    ];
    drop({ volumes, mounts: [{ name: 'h', mountPath: '/bad', subPath: 'out' }] });
    await node.start();
    const message = 'failed to prepare subPath for volumeMount "h" of container "main"';
    await until('the container to be refused', async () => {
      const waiting = (await node.pod('v'))?.status.containerStatuses?.[0]?.state?.waiting;
      return waiting?.reason === 'CreateContainerConfigError' && waiting.message === message;
    });

    drop({
      volumes,
      mounts: [
        { name: 'h', mountPath: '/part', subPath: 'part' },
        { name: 'h', mountPath: '/file', subPath: 'part/file', readOnly: true },
        { name: 'e', mountPath: '/made', subPathExpr: 'of/$(WHO)' },
      ],
      container: { env: [{ name: 'WHO', value: 'me' }] },
    });
    expect(await inside('cat', '/part/file', '/file')).toBe('a parta part');
    expect(await inside('stat', '-c', '%a %F', '/made')).toBe('777 directory');

    node.removeManifest('v.yaml');
    await node.whenGone('v');
    await until('the mounts to be gone', () => mountsOf(node).length === 0);
    expect(readFileSync(join(folder, 'in', 'part', 'file'), 'utf8')).toBe('a part');
  });

  test('see mounts of the node made later only with mountPropagation', async () => {
    const { node, drop, folder, inside } = await scene();
    // Mounts travel only out of a mount that is shared, as the root of most machines is.
    const shared = join(folder, 'shared');
    mkdirSync(join(shared, 'late'), { recursive: true });
    execFileSync('mount', ['--bind', shared, shared]);
    execFileSync('mount', ['--make-shared', shared]);
    try {
      drop({
        volumes: [{ name: 'h', hostPath: { path: shared } }],
        mounts: [
          { name: 'h', mountPath: '/slave', mountPropagation: 'HostToContainer' },
          { name: 'h', mountPath: '/private' },
        ],
      });
      await node.start();
      await node.whenRunning('v');
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(shared, 'late')]);
      writeFileSync(join(shared, 'late', 'seen'), '');
      expect(await inside('ls', '/slave/late')).toBe('seen');
      expect(await inside('ls', '/private/late')).toBe('');
    } finally {
      execFileSync('umount', ['-R', '-l', shared]);
    }
  });

  test('of images are mounted where the runtime can', async () => {
    const { node, drop, inside } = await scene();
    drop({
      volumes: [{ name: 'i', image: { reference: 'docker.io/library/busybox:1.35', pullPolicy: 'IfNotPresent' } }],
      mounts: [{ name: 'i', mountPath: '/i' }],
    });
    await node.start();
    if (process.env['RXLET_RUNTIME'] === '2') {
      expect(await inside('ls', '/i')).toContain('bin');
      expect(await inside('sh', '-c', "grep ' /i ' /proc/mounts")).toMatch(/ ro[, ]/);
    } else {
      await until('the runtime to refuse', async () => {
        const waiting = (await node.pod('v'))?.status.containerStatuses?.[0]?.state?.waiting;
        return waiting?.reason === 'CreateContainerError';
      });
    }
  });
});
