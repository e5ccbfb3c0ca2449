import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { standingClock } from '../../../../src/cli/recording/standing-clock.ts';

describe('standingClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 5_000, toFake: ['Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('stands still from the first look at it until what was heard has been acted upon, and goes on then', async () => {
    const clock = standingClock();
    const before = [clock.now(), clock.monotonic()];
    vi.advanceTimersByTime(20);
    expect([clock.now(), clock.monotonic()]).toEqual(before);
    await Promise.resolve();
    expect([clock.now(), clock.monotonic()]).toEqual(before.map((time) => time + 20));
  });
});
