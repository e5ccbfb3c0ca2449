import { describe, expect, it } from 'vitest';
import { hugePageSize, memoryCapacity } from '../../../../src/host/machine/machine.ts';

describe('memoryCapacity', () => {
  it('reads the bytes of memory that the machine has', () => {
    expect(memoryCapacity('MemTotal:       24689132 kB\nMemFree:         1048576 kB\n')).toBe(24_689_132 * 1_024);
  });

  it('refuses a text that does not tell it', () => {
    expect(() => memoryCapacity('MemFree: 12 kB\n')).toThrow('MemTotal');
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
