import { describe, expect, it } from 'vitest';
import { hugePageSize, memoryCapacity, swapFile, thermalThrottlePaths } from '../../../../src/host/machine/machine.ts';

describe('memoryCapacity', () => {
  it('reads the bytes of memory that the machine has', () => {
    expect(memoryCapacity('MemTotal:       24689132 kB\nMemFree:         1048576 kB\n')).toBe(24_689_132 * 1_024);
  });

  it('refuses a text that does not tell it', () => {
    expect(() => memoryCapacity('MemFree: 12 kB\n')).toThrow('MemTotal');
  });
});

describe('swapFile', () => {
  it.each([
    [
      'of the own cgroup on cgroup v2',
      '0::/system.slice/rxlet.service\n',
      '/sys/fs/cgroup/system.slice/rxlet.service/memory.swap.max',
    ],
    [
      'of the memory hierarchy on cgroup v1',
      '4:memory:/x\n1:name=systemd:/x\n',
      '/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes',
    ],
    [
      'of the memory hierarchy where both are there',
      '4:memory:/x\n0::/x\n',
      '/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes',
    ],
  ])('is that %s', (_where, cgroups, path) => {
    expect(swapFile(cgroups)).toBe(path);
  });
});

describe('hugePageSize', () => {
  it.each([
    ['hugepages-64kB', '64KB'],
    ['hugepages-2048kB', '2MB'],
    ['hugepages-1048576kB', '1GB'],
    ['hugepages-16777216kB', '16GB'],
    ['hugepages-kB', undefined],
    ['something-else', undefined],
  ])('names %s as the runtime does: %s', (directory, size) => {
    expect(hugePageSize(directory)).toBe(size);
  });
});

describe('thermalThrottlePaths', () => {
  const CPU = '/sys/devices/system/cpu';

  it.each<[rule: string, processors: readonly string[], telling: readonly string[], paths: readonly string[]]>([
    [
      'names the heat of every processor that tells it',
      ['cpu0', 'cpu10'],
      [`${CPU}/cpu0/thermal_throttle`, `${CPU}/cpu10/thermal_throttle`],
      [`${CPU}/cpu0/thermal_throttle`, `${CPU}/cpu10/thermal_throttle`],
    ],
    [
      'passes over a processor that does not tell it',
      ['cpu0', 'cpu1'],
      [`${CPU}/cpu1/thermal_throttle`],
      [`${CPU}/cpu1/thermal_throttle`],
    ],
    [
      'passes over what is no processor',
      ['cpufreq', 'cpuidle', 'online', 'cpu'],
      ['cpufreq', 'cpuidle', 'online', 'cpu'].map((name) => `${CPU}/${name}/thermal_throttle`),
      [],
    ],
  ])('%s', (_rule, processors, telling, paths) => {
    expect(thermalThrottlePaths(processors, (path) => telling.includes(path))).toEqual(paths);
  });
});
