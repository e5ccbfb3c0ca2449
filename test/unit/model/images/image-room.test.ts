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
    ['there is room below the high share', { available: 16 }, NOTHING],
    ['at the high share, down to the low one', { available: 15 }, { bytes: 5, inodes: 0 }],
    ['a full disk, down to the low share', { available: 0 }, { bytes: 20, inodes: 0 }],
    ['inodes do not count without a threshold', { inodesFree: 0 }, NOTHING],
  ])('%s', (_what, disk, expected) => {
    expect(shortage(disk)).toEqual(expected);
  });

  it.each<[string, Partial<ImageDisk>, Readonly<Record<string, string>>, object]>([
    [
      'a threshold in bytes',
      { available: 50 },
      { 'imagefs.available': '60' },
      { bytes: 10, inodes: 0, starved: 'ephemeral-storage' },
    ],
    [
      'a threshold as a share',
      { available: 29 },
      { 'imagefs.available': '30%' },
      { bytes: 1, inodes: 0, starved: 'ephemeral-storage' },
    ],
    [
      'a threshold of inodes',
      { inodesFree: 40 },
      { 'imagefs.inodesFree': '5%' },
      { bytes: 0, inodes: 10, starved: 'inodes' },
    ],
    [
      'the threshold of the disk of the pods where that is the same',
      {},
      { 'nodefs.available': '60' },
      { bytes: 10, inodes: 0, starved: 'ephemeral-storage' },
    ],
    ['not that of another disk', { holdsPods: false }, { 'nodefs.available': '60' }, NOTHING],
    ['not that of memory', {}, { 'memory.available': '100Mi' }, NOTHING],
    ['none of 100%', { available: 0 }, { 'imagefs.available': '100%' }, { bytes: 20, inodes: 0 }],
    ['a threshold that is just kept', { available: 60 }, { 'imagefs.available': '60' }, NOTHING],
    ['a file system that does not count inodes', { inodes: 0, inodesFree: 0 }, { 'imagefs.inodesFree': '5%' }, NOTHING],
  ])('heeds %s', (_what, disk, evictionHard, expected) => {
    expect(shortage(disk, { evictionHard })).toEqual(expected);
  });

  it('takes the larger of what share and threshold want', () => {
    expect(shortage({ available: 10 }, { evictionHard: { 'imagefs.available': '40' } })).toMatchObject({ bytes: 30 });
    expect(shortage({ available: 10 }, { evictionHard: { 'imagefs.available': '15%' } })).toMatchObject({ bytes: 10 });
  });

  it('#62: is switched off by a high share of 100, whatever is left of the disk', () => {
    const off = { highThresholdPercent: 100, evictionHard: { 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' } };
    expect(shortage({ available: 0, inodesFree: 0 }, off)).toEqual(NOTHING);
    expect(isShort(NOTHING)).toBe(false);
  });
});

describe('usedPercent', () => {
  it('rounds up, as the kubelet does', () => {
    expect(usedPercent({ available: 159, capacity: 1_000 })).toBe(85);
    expect(usedPercent({ available: 160, capacity: 1_000 })).toBe(84);
  });
});
