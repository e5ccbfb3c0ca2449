import { describe, expect, it } from 'vitest';
import { formatAge } from '../../../../src/cli/commands/format-age.ts';

describe('formatAge', () => {
  it.each([
    [-5_000, '0s'],
    [0, '0s'],
    [59_999, '59s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [187_000, '3m7s'],
    [600_000, '10m'],
    [3 * 3_600_000 - 1, '179m'],
    [3 * 3_600_000, '3h'],
    [5 * 3_600_000 + 61_000, '5h1m'],
    [8 * 3_600_000, '8h'],
    [47 * 3_600_000, '47h'],
    [50 * 3_600_000, '2d2h'],
    [9 * 86_400_000, '9d'],
  ])('shows %d ms as %s', (span, expected) => {
    expect(formatAge(span)).toBe(expected);
  });
});
