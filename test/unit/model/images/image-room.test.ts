import { describe, expect, it } from 'vitest';
import { isShort, shortageOn, usedPercent, type ImageDisk } from '../../../../src/model/images/image-room.ts';

const LIMITS = { highThresholdPercent: 85, lowThresholdPercent: 80, evictionHard: {} };
const DISK: ImageDisk = { available: 50, capacity: 100, inodes: 1_000, inodesFree: 500, holdsPods: true };

function shortage(disk: Partial<ImageDisk>, limits: Partial<typeof LIMITS> = {}): object {
  return shortageOn({ ...DISK, ...disk }, { ...LIMITS, ...limits });
}

const NOTHING = { bytes: 0, inodes: 0 };

describe('shortageOn', () => {
  it.each<[string, Partial<ImageDisk>, object]>([
    ['nothing is removed below imageGCHighThresholdPercent', { available: 16 }, NOTHING],
    [
      'at imageGCHighThresholdPercent images are removed down to imageGCLowThresholdPercent',
      { available: 15 },
      { bytes: 5, inodes: 0 },
    ],
    [
      'on a full disk images are removed down to imageGCLowThresholdPercent',
      { available: 0 },
      { bytes: 20, inodes: 0 },
    ],
    ['inodes do not count without a threshold of evictionHard', { inodesFree: 0 }, NOTHING],
  ])('%s', (_what, disk, expected) => {
    expect(shortage(disk)).toEqual(expected);
  });

  it.each<[string, Partial<ImageDisk>, Readonly<Record<string, string>>, object]>([
    [
      'imagefs.available of evictionHard counts in bytes',
      { available: 50 },
      { 'imagefs.available': '60' },
      { bytes: 10, inodes: 0, starved: 'ephemeral-storage' },
    ],
    [
      'imagefs.available of evictionHard counts as a share',
      { available: 29 },
      { 'imagefs.available': '30%' },
      { bytes: 1, inodes: 0, starved: 'ephemeral-storage' },
    ],
    [
      'imagefs.inodesFree of evictionHard counts',
      { inodesFree: 40 },
      { 'imagefs.inodesFree': '5%' },
      { bytes: 0, inodes: 10, starved: 'inodes' },
    ],
    [
      'nodefs.available counts where images and pods share a disk',
      {},
      { 'nodefs.available': '60' },
      { bytes: 10, inodes: 0, starved: 'ephemeral-storage' },
    ],
    [
      'nodefs.available does not count where images have a disk of their own',
      { holdsPods: false },
      { 'nodefs.available': '60' },
      NOTHING,
    ],
    ['memory.available does not count for images', {}, { 'memory.available': '100Mi' }, NOTHING],
    ['a threshold of 100% is none', { available: 0 }, { 'imagefs.available': '100%' }, { bytes: 20, inodes: 0 }],
    ['a threshold that is just kept is not passed', { available: 60 }, { 'imagefs.available': '60' }, NOTHING],
    [
      'a file system that does not count inodes has no shortage of them',
      { inodes: 0, inodesFree: 0 },
      { 'imagefs.inodesFree': '5%' },
      NOTHING,
    ],
  ])('%s', (_rule, disk, evictionHard, expected) => {
    expect(shortage(disk, { evictionHard })).toEqual(expected);
  });

  it('the larger of what percent and threshold want is removed', () => {
    expect(shortage({ available: 10 }, { evictionHard: { 'imagefs.available': '40' } })).toMatchObject({ bytes: 30 });
    expect(shortage({ available: 10 }, { evictionHard: { 'imagefs.available': '15%' } })).toMatchObject({ bytes: 10 });
  });

  it('#62: a high threshold of 100 removes nothing, whatever is left of the disk', () => {
    const off = { highThresholdPercent: 100, evictionHard: { 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' } };
    expect(shortage({ available: 0, inodesFree: 0 }, off)).toEqual(NOTHING);
    expect(isShort(NOTHING)).toBe(false);
  });
});

describe('usedPercent', () => {
  it('the percent of a disk that is used is rounded up', () => {
    expect(usedPercent({ available: 159, capacity: 1_000 })).toBe(85);
    expect(usedPercent({ available: 160, capacity: 1_000 })).toBe(84);
  });
});
