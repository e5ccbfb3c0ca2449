import type { Observable } from 'rxjs';

/** What a cgroup may use; what is absent stays as it is. */
export interface CgroupLimits {
  /** Weight against its neighbours, 2 to 262144. */
  readonly cpuShares?: number;
  /** Microseconds of each period; -1: no limit. */
  readonly cpuQuota?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  /** Bytes. */
  readonly memory?: number;
  /** Processes and threads. */
  readonly pids?: number;
  /** Bytes by page size, as `2MB`; -1: no limit. */
  readonly hugePages?: Readonly<Record<string, number>>;
}

/** `made`: it was missing; `set`: it was there. */
export type Applied = 'made' | 'set';

/**
 * The cgroups of the machine, by the path from the root of every hierarchy (`/kubepods/burstable/pod...`). Cold
 * Observables: subscribing does it, one value is emitted, then completion. They error with the `Error` of the
 * operating system.
 */
export interface Cgroups {
  /** Makes the cgroup where it is missing, in every hierarchy, and sets its limits. Emits which of both it came to. */
  readonly apply: (path: string, limits: CgroupLimits) => Observable<Applied>;
  /**
   * Removes it, with those below. Fine when it is missing. `kill`: ends what is left in it; `ifEmpty`: errors with code
   * `EBUSY` where a process is left.
   */
  readonly remove: (path: string, how: 'kill' | 'ifEmpty') => Observable<undefined>;
  /** Names of the cgroups directly below it; empty where it is missing. */
  readonly children: (path: string) => Observable<readonly string[]>;
}
