import type { CgroupLimits } from '../../streams/ports/cgroups.ts';

/** What is to be written where: the controller that has the file, its name, and the text. */
export interface LimitFile {
  readonly controller: string;
  readonly file: string;
  readonly text: string;
}

/** The files of version 1, in the order in which they are written: a quota needs its period. */
export function filesOfVersion1({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memory,
  pids,
  hugePages,
}: CgroupLimits): readonly LimitFile[] {
  return [
    ...one('cpu', 'cpu.shares', cpuShares),
    ...one('cpu', 'cpu.cfs_period_us', cpuPeriod),
    ...one('cpu', 'cpu.cfs_quota_us', cpuQuota),
    ...one('memory', 'memory.limit_in_bytes', memory),
    ...one('pids', 'pids.max', pids),
    ...Object.entries(hugePages ?? {}).flatMap(([size, bytes]) =>
      one('hugetlb', `hugetlb.${size}.limit_in_bytes`, bytes < 0 ? UNLIMITED : bytes),
    ),
  ];
}

/** The files of version 2; a weight is what runc makes of shares. */
export function filesOfVersion2({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memory,
  pids,
  hugePages,
}: CgroupLimits): readonly LimitFile[] {
  const quota = cpuQuota === undefined || cpuQuota < 0 ? 'max' : cpuQuota;
  return [
    ...one('cpu', 'cpu.weight', cpuShares === undefined ? undefined : weightOf(cpuShares)),
    ...one('cpu', 'cpu.max', cpuPeriod === undefined ? undefined : `${quota} ${cpuPeriod}`),
    ...one('memory', 'memory.max', memory),
    ...one('pids', 'pids.max', pids),
    ...Object.entries(hugePages ?? {}).flatMap(([size, bytes]) =>
      one('hugetlb', `hugetlb.${size}.max`, bytes < 0 ? 'max' : bytes),
    ),
  ];
}

/** More than any machine has; the kernel rounds it. */
const UNLIMITED = '4611686018427387904';

/** 2 to 262144 becomes 1 to 10000. */
export function weightOf(shares: number): number {
  return 1 + Math.floor(((shares - 2) * 9_999) / 262_142);
}

function one(controller: string, file: string, value: number | string | undefined): readonly LimitFile[] {
  return value === undefined ? [] : [{ controller, file, text: String(value) }];
}
