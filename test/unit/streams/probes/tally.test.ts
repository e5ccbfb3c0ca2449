import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../../../src/streams/probes/probe.ts';
import { count, newTally } from '../../../../src/streams/probes/tally.ts';

describe('count', () => {
  it('a result changes only when as many answers in a row say so as its threshold asks', () => {
    const answers = fc.array(fc.constantFrom('success', 'failure'), { minLength: 1, maxLength: 40 });
    const threshold = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(answers, threshold, threshold, (given, successThreshold, failureThreshold) => {
        const thresholds = { success: successThreshold, failure: failureThreshold };
        let tally = newTally('unknown');
        let expected: ProbeResult = 'unknown';
        given.forEach((answer, index) => {
          tally = count(tally, answer, { successThreshold, failureThreshold });
          const needed = thresholds[answer];
          const row = given.slice(Math.max(0, index + 1 - needed), index + 1);
          if (row.length === needed && row.every((one) => one === answer)) expected = answer;
          expect(tally.result).toBe(expected);
        });
      }),
    );
  });

  it('one success and three failures are enough where nothing else is said', () => {
    expect(count(newTally('failure'), 'success', {}).result).toBe('success');
    const twice = count(count(newTally('success'), 'failure', {}), 'failure', {});
    expect(twice.result).toBe('success');
    expect(count(twice, 'failure', {}).result).toBe('failure');
  });
});
