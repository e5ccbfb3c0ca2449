import { of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { StatusResponse } from '../../../src/model/cri/api.ts';
import { runtimeFeatures, type RuntimeFeatures } from '../../../src/runtime/runtime-features.ts';
import { unexpected } from '../operators/unexpected.ts';

function featuresOf(answer: Observable<StatusResponse>): RuntimeFeatures | undefined {
  let found: RuntimeFeatures | undefined;
  runtimeFeatures({ status: () => answer }).subscribe({
    next: (features) => {
      found = features;
    },
    error: unexpected,
  });
  return found;
}

describe('runtimeFeatures', () => {
  it('tells what the runtime says that it can do, and under which handlers', () => {
    const runtimeHandlers = [
      { features: { recursiveReadOnlyMounts: true } },
      { name: 'runc', features: { recursiveReadOnlyMounts: true } },
      { name: 'old', features: {} },
    ];
    expect(featuresOf(of({ features: { supplementalGroupsPolicy: true }, runtimeHandlers }))).toEqual({
      supplementalGroupsPolicy: true,
      recursiveReadOnly: new Set(['', 'runc']),
    });
  });

  it.each([
    ['says nothing of it', of({})],
    ['does not answer', throwError(() => new Error('gone'))],
  ])('takes it that a runtime can do nothing special which %s', (_why, answer) => {
    expect(featuresOf(answer)).toEqual({ supplementalGroupsPolicy: false, recursiveReadOnly: new Set() });
  });
});
