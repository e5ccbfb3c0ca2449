import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideBackoff,
  formatGoDuration,
  type Backoff,
  type BackoffLimits,
} from '../../../../src/model/restart/backoff.ts';

const LIMITS: BackoffLimits = { initial: 10_000, ceiling: 300_000 };

/** Seconds at which a container starts that ends `lifetime` milliseconds after each start. */
function starts(count: number, lifetime: number, limits: BackoffLimits = LIMITS): readonly number[] {
  const at = [0];
  let backoff: Backoff | undefined;
  let now = lifetime;
  let finishedAt = lifetime;
  while (at.length < count) {
    const decision = decideBackoff(backoff, finishedAt, now, limits);
    if (decision.start) {
      backoff = decision.backoff;
      at.push(now / 1_000);
      finishedAt = now + lifetime;
      now = finishedAt;
    } else {
      expect(decision.until).toBeGreaterThan(now);
      now = decision.until;
    }
  }
  return at;
}

describe('decideBackoff', () => {
  it('starts a container that always fails at once at 0, 0, 10, 30, 70, 150, 310 seconds, then each 5 minutes', () => {
    expect(starts(10, 0)).toEqual([0, 0, 10, 30, 70, 150, 310, 610, 910, 1_210]);
  });

  it('counts the wait from the moment at which the container ended', () => {
    expect(starts(5, 3_000)).toEqual([0, 3, 16, 39, 82]);
  });

  it('never waits longer than maxContainerRestartPeriod, even at first', () => {
    expect(starts(5, 0, { initial: 10_000, ceiling: 4_000 })).toEqual([0, 0, 4, 8, 12]);
  });

  it('lets nobody wait longer than a ceiling that was lowered meanwhile', () => {
    expect(decideBackoff({ delay: 300_000, since: 0 }, 1_000, 2_000, { initial: 10_000, ceiling: 5_000 })).toEqual({
      start: false,
      delay: 5_000,
      until: 6_000,
    });
  });

  it('forgives a container that ran well for more than twice the longest wait', () => {
    const backoff = { delay: 300_000, since: 0 };
    expect(decideBackoff(backoff, 600_001, 600_001, LIMITS)).toEqual({
      start: true,
      backoff: { delay: 10_000, since: 600_001 },
    });
    expect(decideBackoff(backoff, 600_000, 600_001, LIMITS)).toEqual({ start: false, delay: 300_000, until: 900_000 });
  });

  it('tells the wait and its end while a container waits', () => {
    expect(decideBackoff({ delay: 20_000, since: 0 }, 5_000, 6_000, LIMITS)).toEqual({
      start: false,
      delay: 20_000,
      until: 25_000,
    });
  });

  it('does not wait for a clock that was set back by a day', () => {
    const day = 86_400_000;
    const decision = decideBackoff({ delay: 10_000, since: day }, day, 0, LIMITS);
    expect(decision).toEqual({ start: true, backoff: { delay: 20_000, since: 0 } });
  });

  it('ends each wait within twice its delay, however far the clock is set back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300_000 }),
        fc.nat({ max: 1_000_000 }),
        fc.integer({ min: -1_000_000, max: 1_000_000 }),
        (delay, finishedAt, now) => {
          const decision = decideBackoff({ delay, since: 0 }, finishedAt, now, LIMITS);
          if (decision.start) return;
          expect(decision.until - now).toBeLessThanOrEqual(2 * delay);
          expect(decideBackoff({ delay, since: 0 }, finishedAt, decision.until, LIMITS).start).toBe(true);
        },
      ),
      { seed: 5, numRuns: 500 },
    );
  });
});

describe('formatGoDuration', () => {
  it.each([
    [0, '0s'],
    [10_000, '10s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
  ])('writes %d ms as %s', (milliseconds, text) => {
    expect(formatGoDuration(milliseconds)).toBe(text);
  });
});
