import { describe, expect, it } from 'vitest';
import {
  chooseImages,
  followImages,
  type AgeLimits,
  type ImageHistory,
  type NodeImage,
} from '../../../../src/model/images/choose-images.ts';

const NEVER = -Infinity;
const LIMITS: AgeLimits = { minimumAge: 100, maximumAge: 0 };

function image(id: string, more: Partial<NodeImage> = {}): NodeImage {
  return { id, names: [`docker.io/library/${id}:1`], size: 10, pinned: false, held: false, ...more };
}

const ids = (images: readonly NodeImage[]): readonly string[] => images.map(({ id }) => id);

function choose(
  histories: Readonly<Record<string, readonly [firstSeen: number, unusedSince?: number]>>,
  limits: Partial<AgeLimits> = {},
  now = 1_000,
): { readonly aged: readonly string[]; readonly spare: readonly string[]; readonly nextAged: number } {
  const known = Object.entries(histories).map(([id, [firstSeen, unusedSince]]): [string, ImageHistory] => [
    id,
    { firstSeen, ...(unusedSince === undefined ? {} : { unusedSince }) },
  ]);
  const images = known.map(([id]) => image(id, { pinned: id === 'pinned' }));
  const { aged, spare, nextAged } = chooseImages(images, new Map(known), { ...LIMITS, ...limits }, { now, begun: 0 });
  return { aged: ids(aged), spare: ids(spare), nextAged };
}

describe('followImages', () => {
  it('what is there at the first look is old, and what comes later is new', () => {
    const first = followImages(undefined, [image('a')], () => false, 5);
    expect([...first]).toEqual([['a', { firstSeen: NEVER, unusedSince: NEVER }]]);
    const next = followImages(first, [image('a'), image('b')], () => false, 9);
    expect([...next]).toEqual([
      ['a', { firstSeen: NEVER, unusedSince: NEVER }],
      ['b', { firstSeen: 9, unusedSince: 9 }],
    ]);
  });

  it('an image is unused since no container had it, and forgotten when it is gone', () => {
    const used = followImages(undefined, [image('a'), image('b')], ({ id }) => id === 'a', 5);
    expect(used.get('a')).toEqual({ firstSeen: NEVER });
    const unused = followImages(used, [image('a')], () => false, 9);
    expect([...unused]).toEqual([['a', { firstSeen: NEVER, unusedSince: 9 }]]);
    expect(followImages(unused, [image('a')], () => false, 12).get('a')).toEqual({ firstSeen: NEVER, unusedSince: 9 });
  });
});

describe('chooseImages', () => {
  it('what was unused for the longest goes first, then what was known for the longest', () => {
    const { spare } = choose({
      lately: [NEVER, 900],
      long: [NEVER, 10],
      never: [NEVER, NEVER],
      newer: [500, 10],
    });
    expect(spare).toEqual(['never', 'long', 'newer', 'lately']);
  });

  it('#61: what is pinned never goes', () => {
    expect(choose({ pinned: [NEVER, NEVER] }, { maximumAge: 1 })).toEqual({ aged: [], spare: [], nextAged: Infinity });
  });

  it('what is in use stays, and what is younger than imageMinimumGCAge', () => {
    expect(choose({ used: [NEVER], new: [901, 901], old: [900, 900] }).spare).toEqual(['old']);
  });

  it('what was unused for imageMaximumGCAge goes', () => {
    const histories = { old: [NEVER, 500], used: [NEVER], lately: [NEVER, 700], new: [950, 950] } as const;
    expect(choose(histories, { maximumAge: 500 })).toEqual({ aged: ['old'], spare: ['lately'], nextAged: 1_200 });
  });

  it('imageMaximumGCAge counts from the start of the agent at the earliest', () => {
    expect(choose({ before: [NEVER, NEVER] }, { maximumAge: 1_001 }).aged).toEqual([]);
    expect(choose({ before: [NEVER, NEVER] }, { maximumAge: 1_000 }).aged).toEqual(['before']);
  });

  it('no image goes for its age without imageMaximumGCAge', () => {
    expect(choose({ before: [NEVER, NEVER] }, {}, 1e12)).toMatchObject({ aged: [], nextAged: Infinity });
  });
});
