import { freemem, totalmem } from 'node:os';
import { firstValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { machine } from '../../../../src/host/machine/machine.ts';

describe('machine', () => {
  test('tells what this machine is like, as far as others can tell it too', async () => {
    const found = await firstValueFrom(machine('/'));
    expect(found.memoryCapacity).toBeGreaterThan(freemem());
    expect(Math.abs(found.memoryCapacity - totalmem())).toBeLessThan(totalmem() / 100);
    expect(found.hugePageSizes.every((size) => /^\d+(KB|MB|GB)$/.test(size))).toBe(true);
    expect(found.thermalThrottlePaths.every((path) => path.startsWith('/sys/devices/system/cpu/'))).toBe(true);
    expect(found.addresses).not.toContain('127.0.0.1');
    expect(found.addresses).not.toContain('::1');
    const firstOfSix = found.addresses.findIndex((address) => address.includes(':'));
    const later = firstOfSix < 0 ? [] : found.addresses.slice(firstOfSix);
    expect(later.every((address) => address.includes(':'))).toBe(true);
  });
});
