import type { CgroupDriver } from './cgroup.ts';
import type { ResourceList } from './pod-resources.ts';

/** What the agent found out about its machine and runtime when it started; none of it changes while it runs. */
export interface NodeFacts {
  readonly nodeName: string;
  /** Its addresses as pods learn them, the main one first. */
  readonly hostIps: readonly string[];
  /** What pods may ask for together; `cpu`, `memory`, ... */
  readonly allocatable: ResourceList;
  /** Bytes. */
  readonly memoryCapacity: number;
  /** Page sizes of the machine, as `2MB`. */
  readonly hugePageSizes: readonly string[];
  readonly cgroupV2: boolean;
  /** Whether the kernel can limit swap. */
  readonly swapController: boolean;
  /** As the runtime tells it, or as configured where it does not. */
  readonly cgroupDriver: CgroupDriver;
  /** `containerd`, `cri-o`: the scheme of container ids. */
  readonly runtimeName: string;
  /** Handlers of the runtime that can mount recursively read-only; absent: none. */
  readonly recursiveReadOnly?: ReadonlySet<string>;
  /** Whether SELinux labels files here; absent: it does not. */
  readonly selinux?: boolean;
  /** Files under /sys that show other tenants' heat, masked in containers like the runtime's own list. */
  readonly thermalThrottlePaths: readonly string[];
}
