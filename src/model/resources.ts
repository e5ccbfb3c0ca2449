import type { LinuxContainerResources } from './cri/api.ts';
import type { Container, PodSpec } from './pod.ts';
import { qosClassOf } from './qos.ts';
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
}

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const MIN_QUOTA_MICROSECONDS = 1_000;
const NODE_CRITICAL = 2_000_001_000;

/** The resources of one container as the runtime gets them (facts sheet 10.5). */
export function containerResources(spec: PodSpec, container: Container, rules: ResourceRules): LinuxContainerResources {
  const memory = bytesOf(container.resources?.limits?.['memory']);
  return {
    ...cpuResources(cpuRequest(container), milliCpu(container.resources?.limits?.['cpu']), rules),
    ...memoryLimit(memory),
    // Without swap of its own a container may not use the node's: the limit of both together is that of memory.
    ...(memory ? { memorySwapLimitInBytes: memory } : {}),
    oomScoreAdj: oomScoreAdj(spec, container, rules.memoryCapacity),
    hugepageLimits: rules.hugePageSizes.map((pageSize) => ({ pageSize, limit: 0 })),
    ...(rules.cgroupV2 ? { unified: { 'memory.oom.group': '1' } } : {}),
  };
}

/** The sum over the containers that the sandbox is announced with; what a container leaves open adds nothing. */
export function sandboxResources({ containers }: PodSpec, rules: ResourceRules): LinuxContainerResources {
  const total = (quantities: readonly (number | undefined)[]): number | undefined => {
    const known = quantities.filter((quantity) => quantity !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, quantity) => sum + quantity, 0);
  };
  return {
    ...cpuResources(
      total(containers.map(cpuRequest)),
      total(containers.map(({ resources }) => milliCpu(resources?.limits?.['cpu']))),
      rules,
    ),
    ...memoryLimit(total(containers.map(({ resources }) => bytesOf(resources?.limits?.['memory'])))),
  };
}

/** Who dies first when memory runs out (facts sheet 10.5; kubelet, qos.GetContainerOOMScoreAdjust). */
export function oomScoreAdj(spec: PodSpec, container: Container, memoryCapacity: number): number {
  if ((spec.priority ?? 0) >= NODE_CRITICAL) return -997;
  switch (qosClassOf(spec)) {
    case 'Guaranteed':
      return -997;
    case 'BestEffort':
      return 1_000;
    case 'Burstable': {
      const request = bytesOf(container.resources?.requests?.['memory']) ?? 0;
      const score = 1_000 - Math.floor((1_000 * request) / memoryCapacity);
      return Math.min(999, Math.max(3, score));
    }
  }
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

function cpuRequest({ resources }: Container): number | undefined {
  return milliCpu(resources?.requests?.['cpu'] ?? resources?.limits?.['cpu']);
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
