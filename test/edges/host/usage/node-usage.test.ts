import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hierarchies } from '../../../../src/host/cgroups/hierarchies.ts';
import { cgroupUsage } from '../../../../src/host/usage/cgroup-usage.ts';
import { cpuOf, defaultInterface, interfacesOf, memoryOf } from '../../../../src/host/usage/machine-usage.ts';
import { nodeUsage } from '../../../../src/host/usage/node-usage.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rxlet-usage-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function put(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe('cgroupUsage', () => {
  it('reads version 2', async () => {
    put('cgroup.controllers', 'cpu memory pids\n');
    put('pod/cpu.stat', 'usage_usec 2500\nuser_usec 2000\n');
    put('pod/memory.current', '1000\n');
    put('pod/memory.stat', 'anon 300\ninactive_file 400\npgfault 7\npgmajfault 2\n');
    put('pod/memory.swap.current', '50\n');
    put('pod/pids.current', '3\n');
    expect(await cgroupUsage('/pod', hierarchies(root))).toEqual({
      cpuNanoseconds: 2_500_000,
      memory: { usage: 1_000, workingSet: 600, rss: 300 },
      pageFaults: 7,
      majorPageFaults: 2,
      processes: 3,
      swap: 50,
    });
  });

  it('reads version 1, where swap may not be counted', async () => {
    put('cpuacct/pod/cpuacct.usage', '2500000\n');
    put('memory/pod/memory.usage_in_bytes', '1000\n');
    put('memory/pod/memory.stat', 'total_rss 300\ntotal_inactive_file 1200\ntotal_pgfault 7\ntotal_pgmajfault 2\n');
    put('pids/pod/pids.current', '3\n');
    expect(await cgroupUsage('/pod', hierarchies(root))).toEqual({
      cpuNanoseconds: 2_500_000,
      memory: { usage: 1_000, workingSet: 0, rss: 300 },
      pageFaults: 7,
      majorPageFaults: 2,
      processes: 3,
    });
  });

  it('knows nothing of a cgroup that has gone', async () => {
    put('cgroup.controllers', 'cpu memory pids\n');
    expect(await cgroupUsage('/pod', hierarchies(root))).toBeUndefined();
  });
});

describe('machine usage', () => {
  it('counts the time of guests once, and waiting not at all', () => {
    expect(cpuOf('cpu  100 10 50 9999 888 5 4 1 77 7\ncpu0 1 1 1 1\nbtime 1700000000\n')).toEqual({
      cpuNanoseconds: 170 * 10_000_000,
      bootedAt: 1_700_000_000_000,
    });
  });

  it('takes what can be given back off the memory in use', () => {
    const meminfo =
      'MemTotal: 100 kB\nMemFree: 30 kB\nInactive(file): 20 kB\nAnonPages: 5 kB\nSwapTotal: 9 kB\nSwapFree: 4 kB\n';
    expect(memoryOf(meminfo.replaceAll(': ', ':       '))).toEqual({
      memory: { usage: 70 * 1_024, workingSet: 50 * 1_024, rss: 5 * 1_024 },
      memoryAvailable: 50 * 1_024,
      swap: { used: 5 * 1_024, available: 4 * 1_024 },
    });
  });

  it('reads the interfaces, and which one leads out', () => {
    const devices =
      'Inter-|   Receive |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs\n' +
      '    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n  eth0:   10 2 3 0 0 0 0 0 20 5 6 0 0 0 0 0\n';
    expect(interfacesOf(devices)).toEqual([{ name: 'eth0', rxBytes: 10, rxErrors: 3, txBytes: 20, txErrors: 6 }]);
    const routes =
      'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n' +
      'cni0\t0000580A\t00000000\t0001\t0\t0\t0\t00FFFFFF\neth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\n';
    expect(defaultInterface(routes)).toBe('eth0');
    expect(defaultInterface('Iface\tDestination\n')).toBeUndefined();
  });
});

describe('nodeUsage', () => {
  it('looks at this machine', async () => {
    const machine = await firstValueFrom(nodeUsage().machine());
    expect(machine.cpuNanoseconds).toBeGreaterThan(0);
    expect(machine.bootedAt).toBeLessThan(Date.now());
    expect(machine.memory.workingSet).toBeGreaterThan(0);
    expect(machine.processes.most).toBeGreaterThan(machine.processes.current);
  });

  it('tells how full a disk is, and nothing of a path that is not there', async () => {
    const disk = await firstValueFrom(nodeUsage().disk(root));
    expect(disk?.capacity).toBeGreaterThanOrEqual((disk?.used ?? Infinity) + 0);
    expect(await firstValueFrom(nodeUsage().disk(join(root, 'nothing')))).toBeUndefined();
  });

  it('adds up the files right in a folder', async () => {
    put('logs/0.log', 'x'.repeat(10_000));
    put('logs/1.log', 'x'.repeat(10_000));
    expect(await firstValueFrom(nodeUsage().filesIn(join(root, 'logs')))).toBeGreaterThanOrEqual(20_000);
    expect(await firstValueFrom(nodeUsage().filesIn(join(root, 'nothing')))).toBe(0);
  });

  it('tells on which device a path is', async () => {
    expect(await firstValueFrom(nodeUsage().device(root))).toBe(statSync(root).dev);
    expect(await firstValueFrom(nodeUsage().device('/proc'))).not.toBe(statSync(root).dev);
    expect(await firstValueFrom(nodeUsage().device(join(root, 'nothing')))).toBeUndefined();
  });
});
