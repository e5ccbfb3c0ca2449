import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CGROUP_ROOT, type Hierarchies } from '../cgroups/hierarchies.ts';
import { hasCode } from '../files/system-error.ts';
import type { CgroupUsage } from '../../streams/ports/node-usage.ts';

/** What all processes in a cgroup use, in either version; `undefined` where there is no such cgroup. */
export async function cgroupUsage(path: string, found: Hierarchies): Promise<CgroupUsage | undefined> {
  return found.version === 2 ? unified(join(found.root, path)) : split(path, found.folders);
}

async function unified(folder: string): Promise<CgroupUsage | undefined> {
  const [cpu, memory, usage, swap, processes] = await Promise.all([
    table(join(folder, 'cpu.stat')),
    table(join(folder, 'memory.stat')),
    number(join(folder, 'memory.current')),
    number(join(folder, 'memory.swap.current')),
    number(join(folder, 'pids.current')),
  ]);
  if (!cpu || !memory || usage === undefined) return undefined;
  return {
    cpuNanoseconds: 1_000 * (cpu.get('usage_usec') ?? 0),
    memory: {
      usage,
      workingSet: Math.max(0, usage - (memory.get('inactive_file') ?? 0)),
      rss: memory.get('anon') ?? 0,
    },
    pageFaults: memory.get('pgfault') ?? 0,
    majorPageFaults: memory.get('pgmajfault') ?? 0,
    processes: processes ?? 0,
    ...(swap === undefined ? {} : { swap }),
  };
}

async function split(
  path: string,
  folders: Extract<Hierarchies, { version: 1 }>['folders'],
): Promise<CgroupUsage | undefined> {
  const file = (controller: string, name: string): string => join(folders.get(controller) ?? CGROUP_ROOT, path, name);
  const [cpu, memory, usage, withSwap, processes] = await Promise.all([
    number(file('cpuacct', 'cpuacct.usage')),
    table(file('memory', 'memory.stat')),
    number(file('memory', 'memory.usage_in_bytes')),
    number(file('memory', 'memory.memsw.usage_in_bytes')),
    number(file('pids', 'pids.current')),
  ]);
  if (cpu === undefined || !memory || usage === undefined) return undefined;
  return {
    cpuNanoseconds: cpu,
    memory: {
      usage,
      workingSet: Math.max(0, usage - (memory.get('total_inactive_file') ?? 0)),
      rss: memory.get('total_rss') ?? 0,
    },
    pageFaults: memory.get('total_pgfault') ?? 0,
    majorPageFaults: memory.get('total_pgmajfault') ?? 0,
    processes: processes ?? 0,
    ...(withSwap === undefined ? {} : { swap: Math.max(0, withSwap - usage) }),
  };
}

async function table(path: string): Promise<ReadonlyMap<string, number> | undefined> {
  const text = await textOf(path);
  if (text === undefined) return undefined;
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name = '', value]) => [name, Number(value)]),
  );
}

async function number(path: string): Promise<number | undefined> {
  const text = await textOf(path);
  return text === undefined ? undefined : Number(text);
}

/** A cgroup may go at any moment, even while one of its files is open. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return undefined;
    throw error;
  }
}
