import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../../src/model/pod.ts';
import { spareContainers } from '../../../../src/streams/image-gc/spare-containers.ts';
import { book, instance, specOf, type PodSketch } from '../../../marbles/streams/probes/books.ts';

/** Of a pod whose status is on disk as it is, unless another one is given. */
function idsOf(sketch: Partial<PodSketch>, told?: PodStatus): readonly string[] {
  const seen = [instance('made', { state: 'created' }), instance('ended', { state: 'exited' })];
  const page = book({ spec: specOf({}), seen, ...sketch });
  const spare = spareContainers(page, (uid) => told ?? page.entries.get(uid)?.status);
  return spare.map(({ container }) => container.id);
}

describe('spareContainers', () => {
  it('are those of pods that are done for good, the oldest first', () => {
    expect(idsOf({ phase: 'finished' })).toEqual(['ended', 'made']);
  });

  it.each(['syncing', 'terminating', 'ended', 'waiting'] as const)('are none of a pod that is %s', (phase) => {
    expect(idsOf({ phase })).toEqual([]);
  });

  it('are none of which nobody knows whether they run', () => {
    const seen = [instance('unknown', { state: 'unknown' }), instance('running')];
    expect(idsOf({ phase: 'finished', seen })).toEqual([]);
  });

  it('are none of a pod of whose end nothing is on disk yet', () => {
    expect(idsOf({ phase: 'finished' }, { phase: 'Running' })).toEqual([]);
  });
});
