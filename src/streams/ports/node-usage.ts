import type { Observable } from 'rxjs';

/** What something has used of the CPU since it began, and holds of the memory. */
export interface CpuAndMemory {
  /** Nanoseconds, over all cores. */
  readonly cpuNanoseconds: number;
  /** Bytes; `workingSet` is what cannot be given back easily. */
  readonly memory: { readonly usage: number; readonly workingSet: number; readonly rss: number };
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

export interface CgroupUsage extends CpuAndMemory {
  readonly processes: number;
  /** Bytes; absent where the kernel does not count it. */
  readonly swap?: number;
}

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
}

/** How full a file system is: bytes and inodes. */
export interface DiskUsage {
  readonly available: number;
  readonly capacity: number;
  readonly used: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** The machine as a whole. */
export interface MachineUsage extends CpuAndMemory {
  /** Milliseconds since 1970. */
  readonly bootedAt: number;
  readonly memoryAvailable: number;
  readonly swap: { readonly used: number; readonly available: number };
  readonly interfaces: readonly InterfaceUsage[];
  /** Name of the interface of the default route. */
  readonly defaultInterface?: string;
  readonly processes: { readonly current: number; readonly most: number };
}

/** What a folder takes of its disk with all that is in it. */
export interface TreeUsage {
  readonly bytes: number;
  readonly inodes: number;
}

/** Looks at the machine; each look is cold, emits once and completes. */
export interface NodeUsage {
  readonly machine: () => Observable<MachineUsage>;
  /** `undefined` where there is no such cgroup. `path` counts from the root of the hierarchy. */
  readonly cgroup: (path: string) => Observable<CgroupUsage | undefined>;
  /** Of the file system that holds the path; `undefined` where there is no such path. */
  readonly disk: (path: string) => Observable<DiskUsage | undefined>;
  /** Number of the device that holds a path; `undefined` where there is no such path. */
  readonly device: (path: string) => Observable<number | undefined>;
  /** Of a folder with all that is in it, without what is mounted there; may take long. */
  readonly tree: (path: string) => Observable<TreeUsage>;
  /** Bytes of the files right in a folder; 0 where there is none. */
  readonly filesIn: (folder: string) => Observable<number>;
}
