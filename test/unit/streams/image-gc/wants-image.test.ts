import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import { wantsImage } from '../../../../src/streams/image-gc/wants-image.ts';
import { book, type PodSketch } from '../../../marbles/streams/probes/books.ts';

const IMAGE = {
  id: 'sha256:a',
  names: ['docker.io/library/web:latest', 'docker.io/library/web@sha256:9'],
  size: 1,
  pinned: false,
  held: false,
};

function asks(spec: Partial<Pod['spec']>, phase: NonNullable<PodSketch['phase']> = 'syncing'): boolean {
  return wantsImage(book({ phase, spec: { containers: [], ...spec } }), IMAGE);
}

describe('wantsImage', () => {
  it.each<[string, Partial<Pod['spec']>]>([
    ['a pod that waits keeps the image of its container', { containers: [{ name: 'c', image: 'web' }] }],
    ['a pod that waits keeps an image by its digest', { containers: [{ name: 'c', image: 'web@sha256:9' }] }],
    ['a pod that waits keeps an image by its id', { containers: [{ name: 'c', image: 'sha256:a' }] }],
    [
      'a pod that waits keeps the image of its init container',
      { initContainers: [{ name: 'i', image: 'docker.io/web:latest' }] },
    ],
    ['a pod that waits keeps the image of its volume', { volumes: [{ name: 'v', image: { reference: 'web' } }] }],
  ])('%s', (_rule, spec) => {
    expect(asks(spec)).toBe(true);
  });

  it('a pod keeps no image of another tag', () => {
    expect(asks({ containers: [{ name: 'c', image: 'web:2' }] })).toBe(false);
  });

  it('counts pods that wait for their turn, and not those that are done', () => {
    const spec = { containers: [{ name: 'c', image: 'web' }] };
    expect(asks(spec, 'waiting')).toBe(true);
    expect(asks(spec, 'finished')).toBe(false);
  });

  it('finds nothing in an empty book', () => {
    expect(wantsImage(book(), IMAGE)).toBe(false);
  });
});
