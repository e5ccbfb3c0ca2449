import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { RUNTIME_SOCKET } from './harness/private-node.ts';
import { testNode } from './harness/test-node.ts';

/** Starts what a container was made for behind the back of the CRI: what a start that was cut off leaves in containerd 2. */
function startUnseen(containerId: string): void {
  execFileSync('ctr', ['-a', RUNTIME_SOCKET, '-n', 'k8s.io', 'tasks', 'start', '-d', containerId], { stdio: 'pipe' });
}

describe('an agent that is killed while the runtime starts containers', () => {
  test('is followed by one that brings all of them to run', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const node = await testNode();
    await node.start();
    for (const name of names) node.dropManifest(`${name}.yaml`, podYaml({ name, run: OBEDIENT }));
    await Promise.race(names.map((name) => node.whenRunning(name)));
    await node.signal('SIGKILL');
    await node.start();
    for (const name of names) await node.whenRunning(name);
  });

  test('is followed by one that removes a pod of which the runtime has lost sight of a process', async () => {
    const node = await testNode();
    node.dropManifest('lost.yaml', podYaml({ name: 'lost', run: OBEDIENT }));
    await node.start();
    const { id, uid } = await node.whenRunning('lost');
    await node.signal('SIGKILL');
    startUnseen(await node.runtime.createAgain(id));

    node.removeManifest('lost.yaml');
    await node.start();
    await node.whenGone('lost');
    expect(processesOf(uid)).toEqual([]);
  });
});

/** Processes in a cgroup whose path names the pod. */
function processesOf(uid: string): readonly string[] {
  const lines = execFileSync('sh', ['-c', `grep -l 'pod${uid}' /proc/[0-9]*/cgroup 2>/dev/null || true`]);
  return lines.toString().split('\n').filter(Boolean);
}
