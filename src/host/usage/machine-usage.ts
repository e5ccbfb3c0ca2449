import { readFile } from 'node:fs/promises';
import type { InterfaceUsage, MachineUsage } from '../../streams/ports/node-usage.ts';

/** Looks at /proc once. */
export async function machineUsage(): Promise<MachineUsage> {
  const [stat, meminfo, vmstat, devices, routes, load, threads, pids] = await Promise.all(
    [
      'stat',
      'meminfo',
      'vmstat',
      'net/dev',
      'net/route',
      'loadavg',
      'sys/kernel/threads-max',
      'sys/kernel/pid_max',
    ].map((name) => readFile(`/proc/${name}`, 'utf8')),
  );
  const name = defaultInterface(routes ?? '');
  return {
    ...cpuOf(stat ?? ''),
    ...memoryOf(meminfo ?? ''),
    ...faultsOf(vmstat ?? ''),
    interfaces: interfacesOf(devices ?? ''),
    ...(name === undefined ? {} : { defaultInterface: name }),
    processes: {
      current: Number(/\/(\d+) /.exec(load ?? '')?.[1] ?? 0),
      most: Math.min(Number(threads), Number(pids)),
    },
  };
}

/** Nanoseconds of a tick of /proc/stat, whose frequency is 100 Hz for every program on Linux. */
const TICK = 10_000_000;

/** From the text of /proc/stat. Time of guests is in that of users already, and waiting is no work. */
export function cpuOf(stat: string): Pick<MachineUsage, 'cpuNanoseconds' | 'bootedAt'> {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (/^cpu\s+(.+)$/m.exec(stat)?.[1] ?? '')
    .split(' ')
    .map(Number);
  return {
    cpuNanoseconds: TICK * (user + nice + system + irq + softirq + steal),
    bootedAt: 1_000 * Number(/^btime (\d+)$/m.exec(stat)?.[1] ?? 0),
  };
}

/** From the text of /proc/meminfo. */
export function memoryOf(meminfo: string): Pick<MachineUsage, 'memory' | 'memoryAvailable' | 'swap'> {
  const bytes = (field: string): number =>
    1_024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0);
  const total = bytes('MemTotal');
  const usage = total - bytes('MemFree');
  const workingSet = Math.max(0, usage - bytes('Inactive\\(file\\)'));
  return {
    memory: { usage, workingSet, rss: bytes('AnonPages') },
    memoryAvailable: total - workingSet,
    swap: { used: bytes('SwapTotal') - bytes('SwapFree'), available: bytes('SwapFree') },
  };
}

function faultsOf(vmstat: string): Pick<MachineUsage, 'pageFaults' | 'majorPageFaults'> {
  const count = (field: string): number => Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(vmstat)?.[1] ?? 0);
  return { pageFaults: count('pgfault'), majorPageFaults: count('pgmajfault') };
}

/** From the text of /proc/net/dev; loopback is left out. */
export function interfacesOf(devices: string): readonly InterfaceUsage[] {
  return devices
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [name = '', numbers] = line.trim().split(/:\s*/);
      if (numbers === undefined || name === 'lo') return [];
      const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = numbers.split(/\s+/).map(Number);
      return [{ name, rxBytes, rxErrors, txBytes, txErrors }];
    });
}

/** From the text of /proc/net/route. */
export function defaultInterface(routes: string): string | undefined {
  const rows = routes.split('\n').map((line) => line.split('\t'));
  return rows.find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0];
}
