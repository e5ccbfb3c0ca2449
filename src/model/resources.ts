import type { HugepageLimit, LinuxContainerResources } from './cri/api.ts';
import { oomScoreAdj } from './oom-score.ts';
import { podLimitsWithoutOverhead, podRequestsWithoutOverhead, type ResourceList } from './pod-resources.ts';
import type { Container, PodSpec } from './pod.ts';
import { milliValue, parseQuantity, wholeValue } from './quantity.ts';

/** What the node's configuration and hardware add to a pod's resources. */
export interface ResourceRules {
  readonly cpuCFSQuota: boolean;
  /** Microseconds of one scheduling period. */
  readonly cpuPeriodMicroseconds: number;
  /** Bytes of memory that the node has. */
  readonly memoryCapacity: number;
  /** Page sizes of the machine, as `2MB`. */
  readonly hugePageSizes: readonly string[];
  readonly cgroupV2: boolean;
  /** Whether the kernel can limit swap. */
  readonly swapController: boolean;
  /** When memory runs out on cgroup v2, only the process that took too much dies, and not its whole container. */
  readonly singleProcessOomKill: boolean;
}

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const MIN_QUOTA_MICROSECONDS = 1_000;

/**
 * The resources of one container as the runtime gets them (facts sheet 10.5). A limit of the pod as a whole is the limit
 * of every container that has none of its own.
 */
export function containerResources(spec: PodSpec, container: Container, rules: ResourceRules): LinuxContainerResources {
  const { requests, limits } = container.resources ?? {};
  const ofPod = spec.resources?.limits;
  const memory = nonZero(bytesOf(limits?.['memory'])) ?? bytesOf(ofPod?.['memory']);
  const cpu = nonZero(milliCpu(limits?.['cpu'])) ?? milliCpu(ofPod?.['cpu']);
  return {
    ...cpuResources(milliCpu(requests?.['cpu']) ?? cpu, cpu, rules),
    ...memoryLimit(memory),
    ...(rules.cgroupV2 ? {} : swapLimit(memory, rules)),
    oomScoreAdj: oomScoreAdj(spec, container, rules.memoryCapacity),
    hugepageLimits: hugePageLimits(hasHugePages(limits) ? limits : ofPod, rules.hugePageSizes),
    ...unified(rules),
  };
}

/** What the sandbox is announced with: what the pod asks for as a whole, what running it costs apart (facts sheet 10.1). */
export function sandboxResources(spec: PodSpec, rules: ResourceRules): LinuxContainerResources {
  return asResources(podRequestsWithoutOverhead(spec), podLimitsWithoutOverhead(spec), rules);
}

/** What running the pod costs beside its containers; empty where the pod says nothing of it. */
export function overheadResources({ overhead }: PodSpec, rules: ResourceRules): LinuxContainerResources {
  return overhead ? asResources(overhead, overhead, rules) : {};
}

function asResources(requests: ResourceList, limits: ResourceList, rules: ResourceRules): LinuxContainerResources {
  const cpu = milliCpu(limits['cpu']);
  return {
    ...cpuResources(milliCpu(requests['cpu']) ?? cpu, cpu, rules),
    ...memoryLimit(bytesOf(limits['memory'])),
  };
}

/**
 * No pod may use the node's swap: on cgroup v1 the limit of memory and swap together is that of memory, on v2 swap has a
 * limit of its own. (The kubelet's LimitedSwap too leaves out pods of the node itself.)
 */
function swapLimit(memory: number | undefined, { swapController }: ResourceRules): LinuxContainerResources {
  return swapController && memory ? { memorySwapLimitInBytes: memory } : {};
}

function unified({ cgroupV2, swapController, singleProcessOomKill }: ResourceRules): LinuxContainerResources {
  if (!cgroupV2) return {};
  const entries = {
    ...(singleProcessOomKill ? {} : { 'memory.oom.group': '1' }),
    ...(swapController ? { 'memory.swap.max': '0' } : {}),
  };
  return Object.keys(entries).length === 0 ? {} : { unified: entries };
}

const HUGE_PAGES = 'hugepages-';

function hasHugePages(limits: ResourceList | undefined): boolean {
  return Object.keys(limits ?? {}).some((name) => name.startsWith(HUGE_PAGES));
}

/** Every page size of the machine, with 0 for what was not asked for; `hugepages-2Mi` is `2MB` for the runtime. */
function hugePageLimits(limits: ResourceList | undefined, sizes: readonly string[]): readonly HugepageLimit[] {
  const asked = new Map(
    Object.entries(limits ?? {})
      .filter(([name]) => name.startsWith(HUGE_PAGES))
      .map(([name, amount]) => [bytesOf(name.slice(HUGE_PAGES.length)), bytesOf(amount) ?? 0]),
  );
  return sizes.map((pageSize) => ({ pageSize, limit: asked.get(bytesOf(pageSize.replace(/B$/, 'i'))) ?? 0 }));
}

/** A limit of zero is none. */
function nonZero(amount: number | undefined): number | undefined {
  return amount === 0 ? undefined : amount;
}

/** Thousandths of a core; `undefined` where nothing is said. */
function milliCpu(quantity: string | undefined): number | undefined {
  const parsed = quantity === undefined ? undefined : parseQuantity(quantity);
  return parsed && milliValue(parsed);
}

/** Bytes, rounded up; `undefined` where nothing is said. */
function bytesOf(quantity: string | undefined): number | undefined {
  const parsed = quantity === undefined ? undefined : parseQuantity(quantity);
  return parsed && wholeValue(parsed);
}

function cpuResources(
  request: number | undefined,
  limit: number | undefined,
  { cpuCFSQuota, cpuPeriodMicroseconds }: ResourceRules,
): LinuxContainerResources {
  const shares = Math.floor(((request ?? 0) * 1_024) / 1_000);
  const cpuShares = Math.min(MAX_SHARES, Math.max(MIN_SHARES, shares));
  if (!cpuCFSQuota) return { cpuShares };
  const quota = Math.floor(((limit ?? 0) * cpuPeriodMicroseconds) / 1_000);
  return {
    cpuShares,
    cpuPeriod: cpuPeriodMicroseconds,
    ...(quota === 0 ? {} : { cpuQuota: Math.max(MIN_QUOTA_MICROSECONDS, quota) }),
  };
}

function memoryLimit(bytes: number | undefined): LinuxContainerResources {
  return bytes ? { memoryLimitInBytes: bytes } : {};
}
