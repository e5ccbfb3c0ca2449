import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { single, type Family } from './family.ts';

/** What the agent itself costs, under the names that Prometheus' own clients use. */
export function processFamilies(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const stat = statFields();
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'Seconds of CPU time that the agent has used.',
      type: 'counter',
      samples: [{ labels: {}, value: (user + system) / 1_000_000 }],
    },
    single('process_resident_memory_bytes', 'Bytes of memory that the agent holds.', rss),
    single('process_virtual_memory_bytes', 'Bytes of address space.', Number(stat[VIRTUAL])),
    single('nodejs_heap_size_used_bytes', 'Bytes of objects of the agent.', heapUsed),
    single(
      'process_start_time_seconds',
      'When the agent was started, in seconds since 1970.',
      Number((performance.timeOrigin / 1_000).toFixed(3)),
    ),
    single('kubelet_cgroup_version', 'Version of the cgroups of this machine.', existsSync(UNIFIED) ? 2 : 1),
    single('process_open_fds', 'Files and sockets that are open.', readdirSync('/proc/self/fd').length),
    single('process_max_fds', 'Files and sockets that may be open.', mostFiles()),
  ];
}

/** Is there where all controllers are in one hierarchy. */
const UNIFIED = '/sys/fs/cgroup/cgroup.controllers';

/** Of `/proc/self/stat`, counted from the field after the name of the program, which may hold anything. */
const VIRTUAL = 20;

function statFields(): readonly string[] {
  const text = readFileSync('/proc/self/stat', 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function mostFiles(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? Infinity : Number(limit);
}
