import { describe, expect, it } from 'vitest';
import { awaitingStatus, evictedFor, isEvicted } from '../../../../src/model/status/evicted-status.ts';

describe('the status of an evicted pod', () => {
  it('is Failed for the reason Evicted, in the words of the kubelet, and tells that the node ended it', () => {
    expect(evictedFor('too much. ')).toEqual({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'too much. ',
      disruption: 'too much. ',
    });
  });

  it('tells when the pod begins anew, once however often it is told', () => {
    const eviction = { message: 'too much. ', delay: 10_000, until: 70_000 };
    const told = awaitingStatus({ phase: 'Failed', reason: 'Evicted', message: 'too much. ' }, eviction);
    expect(told.message).toBe('too much. The pod begins anew at 1970-01-01T00:01:10Z. ');
    expect(awaitingStatus(told, eviction)).toBe(told);
  });

  it.each([
    [{ phase: 'Failed', reason: 'Evicted' }, true],
    [{ phase: 'Failed', reason: 'DeadlineExceeded' }, false],
    [{ phase: 'Running' }, false],
  ])('is known among others: %j', (status, is) => {
    expect(isEvicted(status)).toBe(is);
  });
});
