import { amount } from './admission/amounts.ts';
import { reserved, type Capacity, type Reservations } from './admission/allocatable.ts';
import { allContainers } from './containers.ts';
import type { PodSpec } from './pod.ts';
import { podLimits, podRequests } from './pod-resources.ts';
import { qosClassOf } from './qos.ts';

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const MIN_QUOTA = 1_000;

/** The values of one cgroup; -1 stands for no limit, sizes are bytes and times microseconds. */
export interface LimitValues {
  readonly cpuShares?: number;
  readonly cpuQuota?: number;
  readonly cpuPeriod?: number;
  readonly memory?: number;
  readonly pids?: number;
  readonly hugePages?: Readonly<Record<string, number>>;
}

export interface PodLimitRules {
  readonly cpuCFSQuota: boolean;
  readonly cpuPeriodMicroseconds: number;
  readonly hugePageSizes: readonly string[];
  /** Processes of one pod; -1: no limit. */
  readonly podPidsLimit: number;
}

/** What a pod as a whole may use (facts sheet 11.2): a limit counts only where every container has one. */
export function podCgroupLimits(spec: PodSpec, rules: PodLimitRules): LimitValues {
  const requests = podRequests(spec);
  const limits = podLimits(spec);
  const pids = rules.podPidsLimit > 0 ? { pids: rules.podPidsLimit } : {};
  const hugePages = rules.hugePageSizes.length === 0 ? {} : { hugePages: hugePagesOf(requests, rules.hugePageSizes) };
  if (qosClassOf(spec) === 'BestEffort') return { cpuShares: MIN_SHARES, ...pids, ...hugePages };
  const isLimited = (name: string): boolean => limits[name] !== undefined && isLimitedThroughout(spec, name);
  const period = rules.cpuPeriodMicroseconds;
  const quota = Math.max(MIN_QUOTA, Math.floor((amount('cpu', limits['cpu'] ?? '0') * period) / 1_000));
  return {
    cpuShares: sharesOf(amount('cpu', requests['cpu'] ?? '0')),
    ...(isLimited('cpu') ? { cpuQuota: rules.cpuCFSQuota ? quota : -1, cpuPeriod: period } : {}),
    ...(isLimited('memory') ? { memory: amount('memory', limits['memory'] ?? '0') } : {}),
    ...pids,
    ...hugePages,
  };
}

/** What a pod adds to the weight of all burstable pods together, so that those that ask for more get more; milliseconds of CPU per second. */
export function burstableCpu(spec: PodSpec): number {
  return qosClassOf(spec) === 'Burstable' ? amount('cpu', podRequests(spec)['cpu'] ?? '0') : 0;
}

/**
 * What all pods together may use: everything that is not kept for others. Where pods are not held to it, only their
 * weight is set.
 */
export function kubepodsLimits(
  capacity: Capacity,
  reservations: Reservations & { readonly enforceNodeAllocatable: readonly string[] },
): LimitValues {
  const cpuShares = sharesOf(Math.max(0, capacity.cpus * 1_000 - reserved('cpu', reservations)));
  if (!reservations.enforceNodeAllocatable.includes('pods')) return { cpuShares };
  const left = (resource: string, all: number): number => Math.max(0, all - reserved(resource, reservations));
  return {
    cpuShares,
    memory: left('memory', capacity.memory),
    ...(capacity.pids === undefined ? {} : { pids: left('pid', capacity.pids) }),
    ...(Object.keys(capacity.hugePages).length === 0 ? {} : { hugePages: bySize(capacity.hugePages) }),
  };
}

/** What the system, or the agent, may use of what is kept for it. */
export function reservedLimits(reservation: Readonly<Record<string, string>>): LimitValues {
  const { cpu, memory, pid } = reservation;
  return {
    ...(cpu === undefined ? {} : { cpuShares: sharesOf(amount('cpu', cpu)) }),
    ...(memory === undefined ? {} : { memory: amount('memory', memory) }),
    ...(pid === undefined ? {} : { pids: amount('pid', pid) }),
  };
}

function isLimitedThroughout(spec: PodSpec, name: string): boolean {
  return (
    spec.resources?.limits?.[name] !== undefined ||
    allContainers(spec).every(({ resources }) => amount(name, resources?.limits?.[name] ?? '0') > 0)
  );
}

export function sharesOf(milliCpu: number): number {
  return Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.floor((milliCpu * 1_024) / 1_000)));
}

/** `hugepages-2Mi` as the kernel names the size in its files: `2MB`. */
function bySize(hugePages: Capacity['hugePages']): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(hugePages).map(([resource, bytes]) => [resource.replace(/^hugepages-(.*)i$/, '$1B'), bytes]),
  );
}

/** Every size of the machine: what a pod does not ask for it may not use. */
function hugePagesOf(
  requests: Readonly<Record<string, string>>,
  sizes: readonly string[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    sizes.map((size) => {
      const resource = `hugepages-${size.replace(/B$/, 'i')}`;
      return [size, amount(resource, requests[resource] ?? '0')];
    }),
  );
}
