import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const ROOT = '/sys/fs/cgroup';
const IS_V2 = existsSync(join(ROOT, 'cgroup.controllers'));

function valueOf(cgroup: string, controller: string, v1: string, v2: string): string {
  return readFileSync(IS_V2 ? join(ROOT, cgroup, v2) : join(ROOT, controller, cgroup, v1), 'utf8').trim();
}

function withResources(yaml: string, resources: string): string {
  return yaml.replace('    command:', `    resources: ${resources}\n    command:`);
}

/** Every folder of a cgroup's name, in whichever hierarchy. */
function foldersOf(uid: string): readonly string[] {
  const trees = IS_V2 ? [ROOT] : readdirSync(ROOT).map((name) => join(ROOT, name));
  const tiers = ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'];
  return trees.flatMap((tree) => tiers.map((tier) => join(tree, tier, `pod${uid}`))).filter((path) => existsSync(path));
}

describe('the cgroup of a pod', () => {
  test('has what the manifest allows, and goes with the pod', async () => {
    const node = await testNode();
    await node.start('--pod-max-pids', '100', '--cgroup-driver', 'cgroupfs');
    const limited = '{limits: {cpu: 500m, memory: 64Mi}, requests: {cpu: 250m, memory: 32Mi}}';
    node.dropManifest('limited.yaml', withResources(podYaml({ name: 'limited', run: OBEDIENT }), limited));
    node.dropManifest('idle.yaml', podYaml({ name: 'idle', run: OBEDIENT }));
    await node.whenRunning('limited');
    await node.whenRunning('idle');

    const [limitedUid, idleUid] = [await uidOf('limited'), await uidOf('idle')];
    const burstable = `kubepods/burstable/pod${limitedUid}`;
    expect(valueOf(burstable, 'memory', 'memory.limit_in_bytes', 'memory.max')).toBe(String(64 * 2 ** 20));
    expect(valueOf(burstable, 'pids', 'pids.max', 'pids.max')).toBe('100');
    expect(valueOf(burstable, 'cpu', 'cpu.cfs_quota_us', 'cpu.max')).toMatch(/^50000\b/);
    expect(valueOf(burstable, 'cpu', 'cpu.shares', 'cpu.weight')).toBe(IS_V2 ? '10' : '256');
    expect(valueOf(`kubepods/besteffort/pod${idleUid}`, 'cpu', 'cpu.shares', 'cpu.weight')).toBe(IS_V2 ? '1' : '2');
    await until(
      'the burstable pods to weigh what they ask for',
      () => valueOf('kubepods/burstable', 'cpu', 'cpu.shares', 'cpu.weight') === (IS_V2 ? '10' : '256'),
    );
    const memory = Number(/^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1_024;
    await until(
      'the pods to have at most what the machine has',
      () => Number(valueOf('kubepods', 'memory', 'memory.limit_in_bytes', 'memory.max')) <= memory,
    );

    node.removeManifest('limited.yaml');
    await until('the cgroup to be gone', () => foldersOf(limitedUid).length === 0);
    expect(foldersOf(idleUid)).not.toEqual([]);

    async function uidOf(name: string): Promise<string> {
      return until(`the uid of ${name}`, async () => (await node.pod(name))?.metadata.uid);
    }
  });

  test('is left to the runtime where pods have no cgroups of their own', async () => {
    const node = await testNode();
    await node.start('--cgroups-per-qos=false', '--enforce-node-allocatable=none');
    node.dropManifest('free.yaml', podYaml({ name: 'free', run: OBEDIENT }));
    await node.whenRunning('free');
    const uid = await until('the uid', async () => (await node.pod('free'))?.metadata.uid);
    expect(foldersOf(uid)).toEqual([]);
  });
});
