import type { CgroupDriver } from './cgroup.ts';

/** What the agent found out about its machine and runtime when it started; none of it changes while it runs. */
export interface NodeFacts {
  readonly nodeName: string;
  /** Bytes. */
  readonly memoryCapacity: number;
  /** Page sizes of the machine, as `2MB`. */
  readonly hugePageSizes: readonly string[];
  readonly cgroupV2: boolean;
  /** As the runtime tells it, or as configured where it does not. */
  readonly cgroupDriver: CgroupDriver;
  /** `containerd`, `cri-o`: the scheme of container ids. */
  readonly runtimeName: string;
  /** Files under /sys that show other tenants' heat, masked in containers like the runtime's own list. */
  readonly thermalThrottlePaths: readonly string[];
}
