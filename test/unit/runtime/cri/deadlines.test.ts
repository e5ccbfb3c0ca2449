import { describe, expect, test } from 'vitest';
import { deadlines, timeLimit } from '../../../../src/runtime/cri/deadlines.ts';

describe('deadlines', () => {
  const rules = deadlines(120_000);

  test('gives a sandbox twice the usual time', () => {
    expect([rules.usual, rules.runPodSandbox]).toEqual([120_000, 240_000]);
  });

  test('gives a stop its grace on top', () => {
    expect(rules.stopContainer(30)).toBe(150_000);
    expect(rules.stopContainer(0)).toBe(120_000);
  });

  test('gives a command its own timeout on top, and all the time it wants without one', () => {
    expect(rules.execSync(1)).toBe(121_000);
    expect(rules.execSync(0)).toBeUndefined();
  });

  test('never limits a pull', () => {
    expect(rules.pullImage).toBeUndefined();
  });
});

describe('timeLimit', () => {
  test('is none where there is no limit, or one no timer can wait for', () => {
    expect(timeLimit(undefined)).toBeUndefined();
    expect(timeLimit(2 ** 40)).toBeUndefined();
    expect(timeLimit(120_000)).toBe(120_000);
  });
});
