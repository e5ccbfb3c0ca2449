import { describe, expect, it } from 'vitest';
import { leftOf, nextEviction, type Eviction } from '../../../../src/model/restart/eviction.ts';

const LIMITS = { initial: 10_000, ceiling: 300_000 };
const evicted = (delay: number, until: number): Eviction => ({ message: 'full', delay, until });

describe('nextEviction', () => {
  it.each([
    ['lets an evicted pod wait 10 s before it begins anew the first time, too', undefined, 0, 10_000],
    ['doubles the wait of a pod that is evicted again', evicted(10_000, 1_000), 5_000, 20_000],
    ['lets an evicted pod wait no longer than the ceiling', evicted(300_000, 1_000), 5_000, 300_000],
    ['forgives an evicted pod that ran well for more than twice the ceiling', evicted(160_000, 1_000), 601_001, 10_000],
    ['does not forgive an evicted pod before that', evicted(160_000, 1_000), 601_000, 300_000],
  ])('%s', (_rule, before, now, delay) => {
    expect(nextEviction(before, 'full', now, LIMITS)).toEqual(evicted(delay, now + delay));
  });

  it('keeps to a ceiling below the first wait', () => {
    expect(nextEviction(undefined, 'full', 0, { initial: 10_000, ceiling: 1_000 }).delay).toBe(1_000);
  });
});

describe('leftOf', () => {
  it.each([
    ['what is left of the wait', 4_000, 6_000],
    ['nothing once it is over', 11_000, 0],
    ['the whole wait after the clock was set back by a day', -86_400_000, 10_000],
  ])('is %s', (_what, now, left) => {
    expect(leftOf(evicted(10_000, 10_000), now)).toBe(left);
  });
});
