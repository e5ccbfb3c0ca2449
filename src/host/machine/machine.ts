import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { networkInterfaces, cpus } from 'node:os';
import { dirname } from 'node:path';
import { defer, of, type Observable } from 'rxjs';
import type { Capacity } from '../../model/admission/allocatable.ts';
import type { NodeFacts } from '../../model/node-facts.ts';
import { formatQuantity } from '../../model/quantity.ts';

/** What the machine itself tells. */
export type Machine = Pick<
  NodeFacts,
  'memoryCapacity' | 'hugePageSizes' | 'cgroupV2' | 'swapController' | 'thermalThrottlePaths' | 'selinux'
> & {
  /** Addresses of the machine, IPv4 first; without loopback and link-local ones. */
  readonly addresses: readonly string[];
  readonly capacity: Capacity;
  readonly appArmor: boolean;
};

/** Looks at /proc and /sys once, and at the disk on which `rootDir` is. Emits one value and completes; errors where it is not Linux. */
export function machine(rootDir: string): Observable<Machine> {
  return defer(() => {
    const memory = memoryCapacity(readFileSync('/proc/meminfo', 'utf8'));
    return of({
      memoryCapacity: memory,
      capacity: { cpus: cpus().length, memory, disk: diskCapacity(rootDir), hugePages: hugePages(), ...pids() },
      appArmor: textOf('/sys/module/apparmor/parameters/enabled')?.startsWith('Y') === true,
      // Where the kernel has SELinux but no policy was loaded, everything bears its first label.
      selinux: existsSync('/sys/fs/selinux/enforce') && textOf('/proc/self/attr/current') !== 'kernel',
      hugePageSizes: names(HUGE_PAGES)
        .map(hugePageSize)
        .filter((size) => size !== undefined),
      cgroupV2: existsSync('/sys/fs/cgroup/cgroup.controllers'),
      swapController: existsSync(swapFile(textOf('/proc/self/cgroup') ?? '')),
      thermalThrottlePaths: thermalThrottlePaths(names(PROCESSORS), existsSync),
      addresses: addresses(),
    });
  });
}

/** Bytes of the file system that holds the path, or will hold it. */
function diskCapacity(path: string): number {
  if (!existsSync(path)) return diskCapacity(dirname(path));
  const { blocks, bsize } = statfsSync(path);
  return blocks * bsize;
}

/** What the kernel gives out at most: numbers of processes, and processes with their threads (facts sheet 22). */
function pids(): Pick<Capacity, 'pids'> {
  const limits = ['pid_max', 'threads-max'].map((name) => Number(textOf(`/proc/sys/kernel/${name}`)));
  const least = Math.min(...limits);
  return Number.isInteger(least) ? { pids: least } : {};
}

/** Bytes that are set aside, by the name of the resource: `hugepages-2Mi`. */
function hugePages(): Capacity['hugePages'] {
  return Object.fromEntries(
    names(HUGE_PAGES).flatMap((name) => {
      const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
      const pages = Number(textOf(`${HUGE_PAGES}/${name}/nr_hugepages`));
      if (!Number.isInteger(kilobytes) || !Number.isInteger(pages)) return [];
      const bytes = 1_024 * kilobytes;
      const size = formatQuantity({ nano: BigInt(bytes) * 1_000_000_000n, format: 'binarySI' });
      return [[`hugepages-${size}`, bytes * pages]];
    }),
  );
}

const HUGE_PAGES = '/sys/kernel/mm/hugepages';

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** The file that is there where swap can be limited; on cgroup v2 the root has none, so it is that of our own cgroup. */
export function swapFile(ownCgroups: string): string {
  const own = /^0::(?<path>.*)$/m.exec(ownCgroups)?.groups?.['path'];
  return own === undefined || /^\d+:[^:]*memory/m.test(ownCgroups)
    ? '/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes'
    : `/sys/fs/cgroup${own}/memory.swap.max`;
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

/** Where the heat of processors is told, of those that tell it. */
export function thermalThrottlePaths(
  processors: readonly string[],
  isThere: (path: string) => boolean,
): readonly string[] {
  return processors
    .filter((name) => /^cpu\d+$/.test(name))
    .map((name) => `${PROCESSORS}/${name}/thermal_throttle`)
    .filter((path) => isThere(path));
}

const PROCESSORS = '/sys/devices/system/cpu';

function addresses(): readonly string[] {
  const all = Object.values(networkInterfaces())
    .flatMap((ofInterface) => ofInterface ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'));
  return [...all.filter(({ family }) => family === 'IPv4'), ...all.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  );
}
