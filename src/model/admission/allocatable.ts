import type { Amounts } from './amounts.ts';
import { amount } from './amounts.ts';
import { evictionThreshold } from '../eviction-threshold.ts';

type Reservation = Readonly<Record<string, string>>;

/** Bytes of memory and of disk, cores, and huge pages by size (`2Mi`): what the machine has. */
export interface Capacity {
  readonly cpus: number;
  readonly memory: number;
  /** Of the file system that holds the pods' folders; absent where it cannot be told. */
  readonly disk?: number;
  /** Bytes by page size, as `hugepages-2Mi`. */
  readonly hugePages: Readonly<Record<string, number>>;
  /** Processes and threads; absent where it cannot be told. */
  readonly pids?: number;
}

/** The fields of the configuration that take something away from pods. */
export interface Reservations {
  readonly maxPods: number;
  readonly systemReserved: Reservation;
  readonly kubeReserved: Reservation;
  /** Signals with the least that is to be left, as `memory.available: 100Mi`; a share of all is `10%`. */
  readonly evictionHard: Reservation;
}

/**
 * What pods may ask for together: what the machine has without what is kept for the system, for the agent, and for
 * the moment at which pods would be evicted (kubelet, GetNodeAllocatableReservation).
 */
export function allocatable({ cpus, memory, disk, hugePages }: Capacity, reservations: Reservations): Amounts {
  const { maxPods, evictionHard } = reservations;
  const left = (resource: string, all: number, signal?: string): number =>
    Math.max(
      0,
      all -
        reserved(resource, reservations) -
        (signal === undefined ? 0 : evictionThreshold(evictionHard[signal], all)),
    );
  return {
    pods: maxPods,
    cpu: left('cpu', cpus * 1_000),
    memory: left(
      'memory',
      memory - Object.values(hugePages).reduce((sum, pages) => sum + pages, 0),
      'memory.available',
    ),
    ...(disk === undefined ? {} : { 'ephemeral-storage': left('ephemeral-storage', disk, 'nodefs.available') }),
    ...Object.fromEntries(Object.entries(hugePages).map(([resource, all]) => [resource, left(resource, all)])),
  };
}

/** What the configuration keeps from pods, of one resource. */
export function reserved(
  resource: string,
  { systemReserved, kubeReserved }: Pick<Reservations, 'systemReserved' | 'kubeReserved'>,
): number {
  return [systemReserved, kubeReserved]
    .map((reservation) => amount(resource, reservation[resource] ?? '0'))
    .reduce((sum, more) => sum + more, 0);
}
