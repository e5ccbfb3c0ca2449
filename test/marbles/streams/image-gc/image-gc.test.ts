import { defer, map, of, takeUntil, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { NodeImage } from '../../../../src/model/images/choose-images.ts';
import type { ImageDisk } from '../../../../src/model/images/image-room.ts';
import {
  imageGc,
  type ImageGcLimits,
  type ImageGcNote,
  type ImageGcPorts,
} from '../../../../src/streams/image-gc/image-gc.ts';
import type { SpareContainer } from '../../../../src/streams/image-gc/spare-containers.ts';
import type { NodeImages } from '../../../../src/streams/ports/node-images.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { container, pod } from '../../fakes.ts';

const LIMITS: ImageGcLimits = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAge: 0,
  maximumAge: 0,
  evictionHard: {},
};

function image(id: string, more: Partial<NodeImage> = {}): NodeImage {
  return { id, names: [`${id}:1`], size: 3, pinned: false, held: false, ...more };
}

/** A disk of 100 with so many used. */
function diskWith(used: number): ImageDisk {
  return { available: 100 - used, capacity: 100, inodes: 0, inodesFree: 0, holdsPods: true };
}

interface Node {
  /** Bytes on the disk beside the images. */
  readonly others?: (at: number) => number;
  readonly images: (at: number) => readonly NodeImage[];
  readonly limits?: Partial<ImageGcLimits>;
  readonly ports?: Partial<ImageGcPorts>;
  readonly more?: Partial<NodeImages>;
  /** Seconds that a removal takes. */
  readonly removal?: number;
}

interface Story {
  /** Seconds at which somebody looked at the disk. */
  readonly looks: readonly number[];
  /** Seconds at which the images were listed. */
  readonly lists: readonly number[];
  readonly notes: readonly string[];
}

/** Lives for some seconds on a disk of 100, on which images that are removed give their bytes back. */
function live(
  { others = () => 0, images, limits = {}, ports = {}, more = {}, removal = 0 }: Node,
  seconds: number,
): Story {
  const looks: number[] = [];
  const lists: number[] = [];
  const notes: string[] = [];
  const gone = new Set<string>();
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(({ flush }) => {
    const now = (): number => scheduler.now() / 1_000;
    const left = (): readonly NodeImage[] => images(now()).filter(({ id }) => !gone.has(id));
    const node: NodeImages = {
      list: () =>
        defer(() => {
          lists.push(now());
          return of(left());
        }),
      remove: ({ id }) =>
        timer(removal * 1_000).pipe(
          map(() => {
            gone.add(id);
            return undefined;
          }),
        ),
      disk: () =>
        defer(() => {
          looks.push(now());
          return of(diskWith(others(now()) + left().reduce((sum, { size }) => sum + size, 0)));
        }),
      ...more,
    };
    imageGc(
      {
        images: node,
        isWanted: () => false,
        spareContainers: () => [],
        removeContainer: () => of(undefined),
        complete$: of(true),
        monotonic: () => scheduler.now(),
        ...ports,
      },
      { ...LIMITS, ...limits },
    )
      .pipe(takeUntil(timer(seconds * 1_000)))
      .subscribe({
        next: (note) => notes.push(`${now()} ${lineOf(note)}`),
        error: (error: unknown) => notes.push(String(error)),
      });
    flush();
  });
  return { looks, lists, notes };
}

function lineOf(note: ImageGcNote): string {
  if (note.kind === 'removed') return `${note.reason} ${note.image.id}`;
  if (note.kind === 'cleared') return `cleared ${note.container.id}`;
  return `${note.reason}${note.isEvent ? '' : ' (log only)'}: ${note.message}`;
}

const always =
  (...images: readonly NodeImage[]) =>
  (): readonly NodeImage[] =>
    images;
const FULL =
  /FreeDiskSpaceFailed: Insufficient free disk space on the node's image filesystem \((\d+)% of 100 bytes used\)\./;

describe('imageGc', () => {
  it('is tried again soon where a pod asks for one that may be free in a moment, and told of once in five minutes', () => {
    let asked = 'a';
    const { notes } = live(
      {
        others: (at) => (at < 35 ? 90 : 82),
        images: (at) => {
          if (at >= 25) asked = '';
          return always(image('a', { size: 4 }), image('b', { size: 4 }))();
        },
        ports: { isWanted: ({ id }) => id === asked },
      },
      60,
    );
    expect(notes.map((note) => note.split(':')[0])).toEqual([
      '0 space b',
      '0 FreeDiskSpaceFailed',
      '30 space a',
      '30 FreeDiskSpaceFailed',
    ]);
  });

  it('does what the diagram of its doc comment shows: makes room as long as there is too little', () => {
    const { looks, notes } = live(
      {
        others: (at) => (at < 20 ? 40 : 75),
        images: always(image('a', { size: 4 }), image('b', { size: 4 }), image('c', { size: 4 })),
        removal: 5,
      },
      41,
    );
    expect(looks.slice(0, 7)).toEqual([0, 10, 20, 20, 25, 30, 40]);
    expect(notes).toEqual(['25 space a', '30 space b']);
  });

  it('waits until it is known what all pods ask for', () => {
    const { looks, notes } = live(
      { others: () => 90, images: always(image('a')), ports: { complete$: timer(60_000) } },
      61,
    );
    expect(looks[0]).toBe(60);
    expect(notes[0]).toBe('60 space a');
  });

  it('removes nothing for room while there is some, and lists the images every five minutes', () => {
    const { lists, notes } = live({ others: () => 84, images: always(image('a', { size: 0 })) }, 1_000);
    expect(notes).toEqual([]);
    expect(lists).toEqual([0, 300, 600, 900]);
  });

  it('#61: keeps what is pinned, what a container has, what a pod asks for and what is new, however full the disk', () => {
    const { notes } = live(
      {
        others: () => 95,
        images: (at) => [
          image('pause', { pinned: true, size: 0 }),
          image('held', { held: true, size: 0 }),
          image('wanted', { size: 0 }),
          ...(at < 5 ? [] : [image('new', { size: 0 })]),
        ],
        ports: { isWanted: ({ id }) => id === 'wanted' },
        limits: { minimumAge: 3_600_000 },
      },
      1_000,
    );
    expect(notes).toHaveLength(4);
    for (const note of notes) expect(note).toMatch(FULL);
  });

  it('asks again before each removal whether a pod wants the image by now', () => {
    let wanted = '';
    const { notes } = live(
      {
        others: () => 90,
        images: always(image('a', { size: 1 }), image('b', { size: 1 }), image('c', { size: 1 })),
        removal: 5,
        ports: {
          isWanted: ({ id }) => id === wanted,
          complete$: of(true),
          monotonic: () => {
            wanted = 'b';
            return 0;
          },
        },
      },
      11,
    );
    expect(notes.slice(0, 2)).toEqual(['5 space a', '10 space c']);
  });

  it('lets go first what was used the longest time ago', () => {
    const { notes } = live(
      {
        others: (at) => (at < 650 ? 50 : 90),
        images: (at) => [
          image('lately', { size: 1, held: at < 500 }),
          image('long', { size: 1, held: at < 200 }),
          image('never', { size: 1 }),
        ],
      },
      651,
    );
    expect(notes.map((note) => note.split(' ').slice(0, 3).join(' ')).slice(0, 3)).toEqual([
      '650 space never',
      '650 space long',
      '650 space lately',
    ]);
  });

  it('stops when the sizes of the images say that it is enough, where the disk tells it late', () => {
    const { notes } = live(
      {
        images: always(image('a', { size: 6 }), image('b', { size: 6 }), image('c', { size: 6 })),
        more: { disk: () => of(diskWith(90)) },
      },
      5,
    );
    expect(notes).toEqual(['0 space a', '0 space b']);
  });

  it('removes for a threshold of evictionHard, and tells once that it is passed', () => {
    const { notes } = live(
      {
        others: (at) => (at < 15 ? 50 : 65),
        images: always(image('a', { size: 4 }), image('b', { size: 4 })),
        limits: { evictionHard: { 'imagefs.available': '30%' } },
      },
      60,
    );
    expect(notes).toEqual(['20 EvictionThresholdMet: Attempting to reclaim ephemeral-storage', '20 space a']);
  });

  describe('containers that nobody needs', () => {
    const spare = (...ids: readonly string[]): readonly SpareContainer[] =>
      ids.map((id) => ({ pod: pod({ metadata: { name: 'job', uid: 'j' as PodUid } }), container: container({ id }) }));
    const starved = {
      limits: { evictionHard: { 'imagefs.available': '30%' } },
      images: always(image('a', { size: 4 })),
    };

    it('go before images where a threshold of evictionHard is passed', () => {
      const { notes } = live({ ...starved, others: () => 67, ports: { spareContainers: () => spare('x', 'y') } }, 5);
      expect(notes).toEqual([
        '0 EvictionThresholdMet: Attempting to reclaim ephemeral-storage',
        '0 cleared x',
        '0 cleared y',
        '0 space a',
      ]);
    });

    it('let images stay when they made room enough', () => {
      let used = 67;
      const ports: Partial<ImageGcPorts> = {
        spareContainers: () => spare('x'),
        removeContainer: () =>
          defer(() => {
            used = 60;
            return of(undefined);
          }),
      };
      const { notes } = live({ ...starved, others: () => used, ports }, 5);
      expect(notes.slice(1)).toEqual(['0 cleared x']);
    });

    it('stay where only the usual share is passed', () => {
      const { notes } = live(
        { others: () => 90, images: always(image('a')), ports: { spareContainers: () => spare('x') } },
        5,
      );
      expect(notes.map((note) => note.split(' ')[1])).toEqual(['space', 'FreeDiskSpaceFailed:']);
    });

    it('go as soon as they are there, though there was not enough before, and are told once each', () => {
      const shown: readonly (readonly string[])[] = [[], ['x'], ['x'], ['x', 'y']];
      let asked = 0;
      const { notes } = live(
        {
          ...starved,
          others: () => 80,
          ports: { spareContainers: () => spare(...(shown[asked++] ?? [])) },
        },
        45,
      );
      expect(notes.filter((note) => !note.includes(' space a')).map((note) => note.split(':')[0])).toEqual([
        '0 EvictionThresholdMet',
        '0 FreeDiskSpaceFailed',
        '10 cleared x',
        '10 FreeDiskSpaceFailed',
        '30 cleared y',
        '30 FreeDiskSpaceFailed',
      ]);
    });

    it('are tried again five minutes later where the runtime did not remove them', () => {
      const { notes } = live(
        {
          ...starved,
          others: () => 80,
          ports: { spareContainers: () => spare('x', 'y'), removeContainer: () => throwError(() => new Error('busy')) },
        },
        301,
      );
      const tries = notes.filter((note) => note.includes('ContainerGCFailed'));
      expect(tries.map((note) => note.split(' ')[0])).toEqual(['0', '300']);
    });

    it('stay in their pod where an older one cannot be removed, and hold up nothing else', () => {
      const ports: Partial<ImageGcPorts> = {
        spareContainers: () => [...spare('x', 'y'), { pod: pod(), container: container({ id: 'z' }) }],
        removeContainer: (one) => (one.container.id === 'x' ? throwError(() => new Error('busy')) : of(undefined)),
      };
      const { notes } = live({ ...starved, others: () => 67, ports }, 5);
      expect(notes.slice(1)).toEqual([
        '0 ContainerGCFailed (log only): container main of default/job could not be removed: busy',
        '0 cleared z',
        '0 space a',
      ]);
    });
  });

  it('#62: removes nothing for room where the high share is 100', () => {
    const { notes, lists } = live(
      {
        others: () => 99,
        images: always(image('a', { size: 1 })),
        limits: { highThresholdPercent: 100, evictionHard: { 'imagefs.available': '15%' } },
      },
      400,
    );
    expect({ notes, lists }).toEqual({ notes: [], lists: [0, 300] });
  });

  it('removes what was unused for too long to the second, and nothing before', () => {
    const { notes } = live(
      {
        images: (at) => [image('unused'), image('used', { held: at < 50 }), image('held', { held: true })],
        limits: { maximumAge: 33_000 },
      },
      400,
    );
    expect(notes).toEqual(['33 age unused', '99 age used']);
  });

  it('tells that the disk stays full, and tries again five minutes later', () => {
    const { notes } = live({ others: () => 95, images: always(image('a', { size: 1 })) }, 601);
    expect(notes.map((note) => note.split(' ')[0])).toEqual(['0', '0', '300', '600']);
    expect(notes[1]).toMatch(FULL);
    expect(FULL.exec(notes[1] ?? '')?.[1]).toBe('96');
    expect(notes[1]).toContain('gave 1 bytes');
  });

  it('tells of a runtime that does not list its images from the second time on as an event', () => {
    const { notes } = live({ images: always(), more: { list: () => throwError(() => new Error('no answer')) } }, 301);
    const message = 'images could not be looked through: no answer';
    expect(notes).toEqual([`0 ImageGCFailed (log only): ${message}`, `300 ImageGCFailed: ${message}`]);
  });

  it('goes on with the next image where one cannot be removed', () => {
    const { notes } = live(
      {
        others: () => 80,
        images: always(image('a', { size: 5 }), image('b', { size: 5 })),
        more: { remove: ({ id }) => (id === 'a' ? throwError(() => new Error('is held')) : of(undefined)) },
      },
      1,
    );
    expect(notes.slice(0, 2)).toEqual([
      '0 ImageGCFailed (log only): image a:1 could not be removed: is held',
      '0 space b',
    ]);
  });

  it('tells of a disk that can hold nothing, and leaves it be', () => {
    const more = { disk: () => of({ ...diskWith(0), capacity: 0, available: 0 }) };
    const { notes } = live({ images: always(image('a')), more }, 301);
    expect(notes.map((note) => note.slice(0, 25))).toEqual(
      ['0 InvalidDiskCapacity: the', '300 InvalidDiskCapacity: '].map((note) => note.slice(0, 25)),
    );
  });

  it('looks only at their age where the runtime does not tell on which disk images are', () => {
    const more = { disk: () => of(undefined) };
    expect(live({ others: () => 99, images: always(image('a')), more }, 400)).toMatchObject({
      notes: [],
      lists: [0, 300],
    });
  });
});
