import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../../src/model/config/parse-duration.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['100ms', 100],
    ['20s', 20_000],
    ['1m', 60_000],
    ['1h2m3.5s', 3_723_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['-1m30s', -90_000],
    ['+2s', 2_000],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['1000000ns', 1],
  ])('reads %s as %d ms', (text, expected) => {
    expect(parseDuration(text)).toBeCloseTo(expected, 9);
  });

  it.each(['', '-', '20', 's', '1 s', '1d', '5s!', 'x5s', '1h 2m', '1e3s'])('finds no duration in %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
