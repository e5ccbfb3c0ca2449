import { describe, expect, it } from 'vitest';
import { mountStatuses } from '../../../../src/model/status/mount-statuses.ts';
import { pod, wanted } from '../../../marbles/fakes.ts';

const CAN = new Set(['', 'kata']);

describe('mountStatuses', () => {
  it.each([
    ['says nothing of a mount that may be written', {}, CAN, undefined],
    ['says Disabled where nobody asked', { readOnly: true }, CAN, 'Disabled'],
    ['says Disabled where that was asked', { readOnly: true, recursiveReadOnly: 'Disabled' }, CAN, 'Disabled'],
    [
      'says Enabled where it was asked for and can be',
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      CAN,
      'Enabled',
    ],
    ['says Enabled where it is possible', { readOnly: true, recursiveReadOnly: 'IfPossible' }, CAN, 'Enabled'],
    [
      'says Disabled where it is not',
      { readOnly: true, recursiveReadOnly: 'IfPossible' },
      new Set<string>(),
      'Disabled',
    ],
    // The container does not start then (the kubelet shows the same).
    [
      'says Disabled of what cannot be',
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      new Set<string>(),
      'Disabled',
    ],
  ])('%s', (_rule, more, handlers, mode) => {
    const container = wanted('main', { volumeMounts: [{ name: 'v', mountPath: '/v', ...more }] });
    const shown = mountStatuses(pod(), container, handlers)?.volumeMounts;
    expect(shown).toEqual([
      { name: 'v', mountPath: '/v', ...(mode ? { readOnly: true, recursiveReadOnly: mode } : {}) },
    ]);
  });

  it('goes by the handler that the pod runs under', () => {
    const mount = { name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'IfPossible' };
    const container = wanted('main', { volumeMounts: [mount] });
    const mode = (runtimeClassName: string): unknown =>
      mountStatuses(pod({ spec: { runtimeClassName } }), container, new Set(['kata']))?.volumeMounts?.[0]
        ?.recursiveReadOnly;
    expect(mode('kata')).toBe('Enabled');
    expect(mode('other')).toBe('Disabled');
  });

  it('is absent from the status of a container without mounts', () => {
    expect(mountStatuses(pod(), wanted())).toBeUndefined();
  });
});
