import { evictionThreshold } from '../eviction-threshold.ts';

/** When room is made on the disk that holds images (facts sheet 22, 23.2). */
export interface RoomLimits {
  /** Share of the disk from which on room is made, in percent; 100: never. */
  readonly highThresholdPercent: number;
  /** Down to which it is made. */
  readonly lowThresholdPercent: number;
  /** Signals with the least that is to be left, as `imagefs.available: 15%`; those of other things are left aside. */
  readonly evictionHard: Readonly<Record<string, string>>;
}

/** How full the disk that holds images is. */
export interface ImageDisk {
  /** Bytes. */
  readonly available: number;
  readonly capacity: number;
  /** 0 of both where the file system does not count them. */
  readonly inodes: number;
  readonly inodesFree: number;
  /** The folders of the pods are on it, too: then what is to be left of their disk counts as well. */
  readonly holdsPods: boolean;
}

/** What is wanting on the disk; nothing when both are 0. */
export interface Shortage {
  /** Bytes that are to be freed. */
  readonly bytes: number;
  readonly inodes: number;
  /** What the threshold that is passed is about, as the kubelet calls it; absent where it is only the usual share. */
  readonly starved?: 'ephemeral-storage' | 'inodes';
}

export const NO_SHORTAGE: Shortage = { bytes: 0, inodes: 0 };

/** What is to be freed on a disk: down to the low share once it is as full as the high one, and what a threshold lacks. */
export function shortageOn(disk: ImageDisk, limits: RoomLimits): Shortage {
  const { highThresholdPercent: high, lowThresholdPercent: low, evictionHard } = limits;
  const { available, capacity, inodes, inodesFree, holdsPods } = disk;
  if (high >= 100) return NO_SHORTAGE;
  const overShare = usedPercent(disk) >= high ? Math.ceil((capacity * (100 - low)) / 100) - available : 0;
  const least = (signal: string, all: number): number =>
    Math.max(
      evictionThreshold(evictionHard[`imagefs.${signal}`], all),
      holdsPods ? evictionThreshold(evictionHard[`nodefs.${signal}`], all) : 0,
    );
  const starvedBytes = least('available', capacity) - available;
  const starvedInodes = least('inodesFree', inodes) - inodesFree;
  return {
    bytes: Math.max(0, overShare, starvedBytes),
    inodes: Math.max(0, starvedInodes),
    ...(starvedBytes > 0 ? { starved: 'ephemeral-storage' } : starvedInodes > 0 ? { starved: 'inodes' } : {}),
  };
}

export function isShort({ bytes, inodes }: Shortage): boolean {
  return bytes > 0 || inodes > 0;
}

/** Whole percents, as the kubelet rounds them. */
export function usedPercent({ available, capacity }: Pick<ImageDisk, 'available' | 'capacity'>): number {
  return 100 - Math.floor((available * 100) / capacity);
}
