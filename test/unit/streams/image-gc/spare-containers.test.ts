import { describe, expect, it } from 'vitest';
import { spareContainers } from '../../../../src/streams/image-gc/spare-containers.ts';
import { book, instance, specOf, type PodSketch } from '../../../marbles/streams/probes/books.ts';

function idsOf(phase: NonNullable<PodSketch['phase']>): readonly string[] {
  const seen = [instance('made', { state: 'created' }), instance('ended', { state: 'exited' })];
  return spareContainers(book({ phase, spec: specOf({}), seen })).map(({ container }) => container.id);
}

describe('spareContainers', () => {
  it('are those of pods that are done for good, the oldest first', () => {
    expect(idsOf('finished')).toEqual(['ended', 'made']);
  });

  it.each(['syncing', 'terminating', 'ended', 'waiting'] as const)('are none of a pod that is %s', (phase) => {
    expect(idsOf(phase)).toEqual([]);
  });

  it('are none of which nobody knows whether they run', () => {
    const seen = [instance('unknown', { state: 'unknown' }), instance('running')];
    expect(spareContainers(book({ phase: 'finished', spec: specOf({}), seen }))).toEqual([]);
  });
});
