import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeCgroups } from '../../../../src/host/cgroups/node-cgroups.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroups-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8').trim();
}

const LIMITS = {
  cpuShares: 1_024,
  cpuQuota: 50_000,
  cpuPeriod: 100_000,
  memory: 64,
  pids: 10,
  hugePages: { '2MB': 0 },
};

describe('nodeCgroups on version 1', () => {
  beforeEach(() => {
    for (const name of ['cpu', 'memory', 'pids', 'cpuset', 'hugetlb', 'unified']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'unified/cgroup.controllers'), '');
  });

  it('writes each limit where its controller is, and leaves the other hierarchies and the tree of version 2 to the runtime', async () => {
    const cgroups = nodeCgroups(root);
    expect(await firstValueFrom(cgroups.apply('/kubepods/poda', LIMITS))).toBe('made');
    expect(await firstValueFrom(cgroups.apply('/kubepods/poda', LIMITS))).toBe('set');
    expect(read('cpu/kubepods/poda/cpu.shares')).toBe('1024');
    expect(read('cpu/kubepods/poda/cpu.cfs_quota_us')).toBe('50000');
    expect(read('memory/kubepods/poda/memory.limit_in_bytes')).toBe('64');
    expect(read('pids/kubepods/poda/pids.max')).toBe('10');
    expect(read('hugetlb/kubepods/poda/hugetlb.2MB.limit_in_bytes')).toBe('0');
    for (const other of ['cpuset', 'unified']) expect(existsSync(join(root, other, 'kubepods'))).toBe(false);
    expect(await firstValueFrom(cgroups.children('/kubepods'))).toEqual(['poda']);
    expect(await firstValueFrom(cgroups.children('/elsewhere'))).toEqual([]);
  });
});

describe('nodeCgroups on version 2', () => {
  it('writes the words of the kernel for what has no limit, and huge pages where it has them', async () => {
    writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu memory hugetlb pids\n');
    for (const folder of ['', 'kubepods.slice']) {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, 'cgroup.subtree_control'), 'cpuset cpu memory hugetlb pids\n');
    }
    const free = { cpuShares: 2, cpuQuota: -1, cpuPeriod: 100_000, hugePages: { '2MB': -1, '1GB': 2 ** 30 } };
    const path = '/kubepods.slice/kubepods-burstable.slice';
    expect(await firstValueFrom(nodeCgroups(root).apply(path, free))).toBe('made');
    const burstable = 'kubepods.slice/kubepods-burstable.slice';
    expect(read(`${burstable}/cpu.weight`)).toBe('1');
    expect(read(`${burstable}/cpu.max`)).toBe('max 100000');
    expect(read(`${burstable}/hugetlb.2MB.max`)).toBe('max');
    expect(read(`${burstable}/hugetlb.1GB.max`)).toBe(String(2 ** 30));
    // What is handed on already is not written again.
    expect(read('cgroup.subtree_control')).toBe('cpuset cpu memory hugetlb pids');
  });

  it('hands the controllers on from the root to the pod, and writes what the kernel takes', async () => {
    writeFileSync(join(root, 'cgroup.controllers'), 'cpu memory io pids\n');
    for (const folder of ['', 'kubepods']) {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, 'cgroup.subtree_control'), folder === '' ? 'cpu\n' : '');
    }
    await firstValueFrom(nodeCgroups(root).apply('/kubepods/poda', LIMITS));
    expect(read('cgroup.subtree_control')).toBe('+memory +pids');
    expect(read('kubepods/cgroup.subtree_control')).toBe('+cpu +memory +pids');
    expect(read('kubepods/poda/cpu.weight')).toBe('39');
    expect(read('kubepods/poda/cpu.max')).toBe('50000 100000');
    expect(read('kubepods/poda/memory.max')).toBe('64');
    expect(() => read('kubepods/poda/hugetlb.2MB.max')).toThrow('ENOENT');
  });
});
