import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { defer, of, type Observable } from 'rxjs';
import type { NodeFacts } from '../../model/node-facts.ts';

/** What the machine itself tells. */
export type Machine = Pick<NodeFacts, 'memoryCapacity' | 'hugePageSizes' | 'cgroupV2' | 'thermalThrottlePaths'> & {
  /** Addresses of the machine, IPv4 first; without loopback and link-local ones. */
  readonly addresses: readonly string[];
};

/** Looks at /proc and /sys once. Emits one value and completes; errors where it is not Linux. */
export function machine(): Observable<Machine> {
  return defer(() =>
    of({
      memoryCapacity: memoryCapacity(readFileSync('/proc/meminfo', 'utf8')),
      hugePageSizes: names('/sys/kernel/mm/hugepages')
        .map(hugePageSize)
        .filter((size) => size !== undefined),
      cgroupV2: existsSync('/sys/fs/cgroup/cgroup.controllers'),
      thermalThrottlePaths: names('/sys/devices/system/cpu')
        .filter((name) => /^cpu\d+$/.test(name))
        .map((name) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
        .filter((path) => existsSync(path)),
      addresses: addresses(),
    }),
  );
}

/** Bytes of memory, from the text of /proc/meminfo. */
export function memoryCapacity(meminfo: string): number {
  const kilobytes = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  if (kilobytes === undefined) throw new Error('/proc/meminfo does not tell MemTotal');
  return Number(kilobytes) * 1_024;
}

/** `hugepages-2048kB` as the runtime names it: `2MB`. */
export function hugePageSize(directory: string): string | undefined {
  const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(directory)?.[1]);
  if (!Number.isInteger(kilobytes)) return undefined;
  if (kilobytes >= 1_048_576) return `${kilobytes / 1_048_576}GB`;
  return kilobytes >= 1_024 ? `${kilobytes / 1_024}MB` : `${kilobytes}KB`;
}

function names(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory).toSorted() : [];
}

function addresses(): readonly string[] {
  const all = Object.values(networkInterfaces())
    .flatMap((ofInterface) => ofInterface ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'));
  return [...all.filter(({ family }) => family === 'IPv4'), ...all.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  );
}
