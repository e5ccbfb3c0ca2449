import { describe, expect, it } from 'vitest';
import { rfc3339, rfc3339Nano } from '../../../src/model/rfc3339.ts';

describe('rfc3339Nano', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T00:00:00.001Z'],
    [120, '1970-01-01T00:00:00.12Z'],
    [600_000, '1970-01-01T00:10:00Z'],
    [1_764_438_245_500, '2025-11-29T17:44:05.5Z'],
  ])('writes %d as %s', (milliseconds, text) => {
    expect(rfc3339Nano(milliseconds)).toBe(text);
  });
});

describe('rfc3339', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [1_764_438_245_999.9, '2025-11-29T17:44:05Z'],
  ])('writes %d to whole seconds as %s', (milliseconds, text) => {
    expect(rfc3339(milliseconds)).toBe(text);
  });
});
