import { describe, expect, it } from 'vitest';
import {
  filesOfVersion1,
  filesOfVersion2,
  weightOf,
  type LimitFile,
} from '../../../../src/host/cgroups/limit-files.ts';
import type { CgroupLimits } from '../../../../src/streams/ports/cgroups.ts';

function lines(files: readonly LimitFile[]): readonly string[] {
  return files.map(({ controller, file, text }) => `${controller}: ${file} ${text}`);
}

describe('the files of a cgroup', () => {
  it.each<[string, CgroupLimits, readonly string[], readonly string[]]>([
    ['hold nothing where nothing is limited', {}, [], []],
    [
      'hold shares on version 1 and a weight on version 2',
      { cpuShares: 1_024 },
      ['cpu: cpu.shares 1024'],
      ['cpu: cpu.weight 39'],
    ],
    [
      'hold the period before its quota on version 1, and both in one on version 2',
      { cpuQuota: 50_000, cpuPeriod: 100_000 },
      ['cpu: cpu.cfs_period_us 100000', 'cpu: cpu.cfs_quota_us 50000'],
      ['cpu: cpu.max 50000 100000'],
    ],
    [
      'say -1 or max for a quota that is taken away',
      { cpuQuota: -1, cpuPeriod: 100_000 },
      ['cpu: cpu.cfs_period_us 100000', 'cpu: cpu.cfs_quota_us -1'],
      ['cpu: cpu.max max 100000'],
    ],
    [
      'hold the limit of memory in bytes',
      { memory: 1_048_576 },
      ['memory: memory.limit_in_bytes 1048576'],
      ['memory: memory.max 1048576'],
    ],
    ['hold the limit of processes', { pids: 7 }, ['pids: pids.max 7'], ['pids: pids.max 7']],
    [
      'hold a limit of huge pages of each size',
      { hugePages: { '2MB': 0, '1GB': -1 } },
      ['hugetlb: hugetlb.2MB.limit_in_bytes 0', 'hugetlb: hugetlb.1GB.limit_in_bytes 4611686018427387904'],
      ['hugetlb: hugetlb.2MB.max 0', 'hugetlb: hugetlb.1GB.max max'],
    ],
  ])('%s', (_rule, limits, version1, version2) => {
    expect(lines(filesOfVersion1(limits))).toEqual(version1);
    expect(lines(filesOfVersion2(limits))).toEqual(version2);
  });

  it('make of 2 to 262144 shares a weight from 1 to 10000, in proportion', () => {
    expect([2, 102, 1_024, 2_048, 131_073, 262_144].map(weightOf)).toEqual([1, 4, 39, 79, 5_000, 10_000]);
  });
});
