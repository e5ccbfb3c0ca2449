import { describe, expect, it } from 'vitest';
import { watchdogPeriod } from '../../../../src/host/systemd/watchdog-period.ts';

describe('watchdogPeriod', () => {
  it.each([
    ['half of the time allowed, in milliseconds', { WATCHDOG_USEC: '60000000' }, 30_000],
    ['the same when we are named', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' }, 30_000],
    ['nothing when another process is named', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '8' }, undefined],
    ['nothing when no watchdog is set', {}, undefined],
    ['nothing when it is off', { WATCHDOG_USEC: '0' }, undefined],
  ])('is %s', (_name, env, expected) => {
    expect(watchdogPeriod(env, 7)).toBe(expected);
  });

  it.each(['1000000', '1', '-5', 'soon'])('refuses %s microseconds', (allowed) => {
    expect(() => watchdogPeriod({ WATCHDOG_USEC: allowed }, 7)).toThrow('WatchdogSec must be longer than 1s');
  });
});
