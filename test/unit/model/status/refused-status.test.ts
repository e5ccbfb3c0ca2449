import { describe, expect, it } from 'vitest';
import { isRefusedStatus, PREEMPTED, refusedStatus } from '../../../../src/model/status/refused-status.ts';
import { pod } from '../../../marbles/fakes.ts';

const REFUSAL = { reason: 'OutOfcpu', message: 'Node has no cpu left' } as const;
const AT = Date.parse('2026-01-01T00:00:00Z');

describe('the status of a pod that the node does not take', () => {
  const refused = refusedStatus(pod(), undefined, REFUSAL, AT);

  it('is Failed with the reason of the refusal and no container', () => {
    expect(refused).toEqual({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: Node has no cpu left',
      startTime: '2026-01-01T00:00:00Z',
      qosClass: 'BestEffort',
    });
  });

  it('is the very same as long as the refusal is', () => {
    expect(refusedStatus(pod(), refused, REFUSAL, AT + 9_000)).toBe(refused);
  });

  it('keeps the time of the first refusal when the reason changes, and none of a pod that ran', () => {
    const other = { reason: 'OutOfmemory', message: '' } as const;
    expect(refusedStatus(pod(), refused, other, AT + 9_000).startTime).toBe('2026-01-01T00:00:00Z');
    const ran = { phase: 'Failed', reason: 'Evicted', startTime: '2025-01-01T00:00:00Z' };
    expect(refusedStatus(pod(), ran, REFUSAL, AT).startTime).toBe('2026-01-01T00:00:00Z');
  });

  it.each([
    ['is told from others by its message', refused, true],
    ['may be that of a pod that made room for a critical one', { ...PREEMPTED }, true],
    ['is not that of a pod that failed by itself', { phase: 'Failed' }, false],
    ['is not that of a pod that runs', { phase: 'Running', message: 'Pod was rejected: no' }, false],
  ])('%s', (_rule, status, is) => {
    expect(isRefusedStatus(status)).toBe(is);
  });
});
