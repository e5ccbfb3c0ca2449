import { defer, of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container, Image } from '../../../../src/model/cri/api.ts';
import type { NodeImage } from '../../../../src/model/images/choose-images.ts';
import { nodeImages } from '../../../../src/runtime/images/node-images.ts';

const IMAGES: readonly Image[] = [
  { id: 'sha256:a', repoTags: ['docker.io/library/busybox:1'], repoDigests: ['docker.io/library/busybox@sha256:9'] },
  { id: 'sha256:p', repoTags: ['registry.k8s.io/pause:3.6'], size: 7 },
];

interface Node {
  readonly images?: readonly Image[];
  readonly containers?: readonly Container[];
  readonly config?: string;
  readonly mountpoints?: readonly (string | undefined)[];
}

/** What the runtime and the disk were asked, and the images of a node. */
function nodeOf({ images = IMAGES, containers = [], config, mountpoints = ['/images'] }: Node) {
  const asked: string[] = [];
  const left = [...mountpoints];
  const answer = <T>(call: string, value: () => T): Observable<T> =>
    defer(() => {
      asked.push(call);
      return of(value());
    });
  const { list, disk, remove } = nodeImages({
    cri: {
      listImages: () => answer('list', () => ({ images })),
      listContainers: () => answer('containers', () => ({ containers })),
      status: (request) =>
        answer(request?.verbose === true ? 'verbose status' : 'status', () =>
          config === undefined ? {} : { info: { config } },
        ),
      removeImage: ({ image }) => answer(`remove ${image?.image ?? ''}`, () => undefined),
      imageFsInfo: () =>
        answer('fs', () => {
          const mountpoint = left.length > 1 ? left.shift() : left[0];
          return { imageFilesystems: mountpoint === undefined ? [] : [{ fsId: { mountpoint } }] };
        }),
    },
    usage: {
      disk: (path) => answer(`disk ${path}`, () => ({ capacity: 9, available: 4, used: 5, inodes: 3, inodesFree: 2 })),
      device: (path) => of(path === '/apart' ? 2 : 1),
    },
    rootDir: '/root',
  });
  return { asked, list, disk, remove };
}

function read<T>(value$: Observable<T>): T | undefined {
  let value: T | undefined;
  value$.subscribe({
    next: (told) => {
      value = told;
    },
    error: (error: unknown) => {
      throw error;
    },
  });
  return value;
}

function listed(node: Node): readonly Pick<NodeImage, 'id' | 'held' | 'pinned'>[] {
  return (read(nodeOf(node).list()) ?? []).map(({ id, held, pinned }) => ({ id, held, pinned }));
}

describe('nodeImages', () => {
  it.each<[string, Container]>([
    ['an image is held by a container that names its id', { imageRef: 'sha256:a' }],
    [
      'an image is held by a container to which the runtime adds its id',
      { imageRef: 'docker.io/library/other@sha256:1', imageId: 'sha256:a' },
    ],
    ['an image is held by a container that names its digest', { imageRef: 'docker.io/library/busybox@sha256:9' }],
    ['an image is held by a container that has its name', { image: { image: 'busybox:1' } }],
    [
      'an image is held by a container that has ended',
      { state: 'CONTAINER_EXITED', image: { image: 'sha256:a', userSpecifiedImage: 'busybox' } },
    ],
  ])('%s', (_rule, container) => {
    expect(listed({ containers: [container] })).toEqual([
      { id: 'sha256:a', held: true, pinned: false },
      { id: 'sha256:p', held: false, pinned: false },
    ]);
  });

  it.each<[string, Node]>([
    ['#61: an image that the runtime pins is kept', { images: [{ ...IMAGES[1], pinned: true }] }],
    [
      '#61: the image that sandboxes are made from is kept where the runtime names it in its configuration',
      { config: '{"sandboxImage":"registry.k8s.io/pause:3.6"}', images: IMAGES.slice(1) },
    ],
  ])('%s', (_rule, node) => {
    expect(listed(node)).toEqual([{ id: 'sha256:p', held: false, pinned: true }]);
  });

  it.each(['', 'not json', '[]', 'null', '{"sandboxImage":7}', '{"sandboxImage":""}'])(
    'takes %j for a configuration that names none',
    (config) => {
      expect(listed({ config }).map(({ pinned }) => pinned)).toEqual([false, false]);
    },
  );

  it('removes an image by its id, so that all of its names go', () => {
    const { asked, list, remove } = nodeOf({});
    const [image] = read(list()) ?? [];
    if (image) read(remove(image));
    expect(asked.at(-1)).toBe('remove sha256:a');
  });

  it('asks the runtime once where its images are, and after that only the disk', () => {
    const { asked, disk } = nodeOf({});
    const full = { capacity: 9, available: 4, used: 5, inodes: 3, inodesFree: 2, holdsPods: true };
    expect([read(disk()), read(disk())]).toEqual([full, full]);
    expect(asked).toEqual(['fs', 'disk /images', 'disk /images']);
  });

  it('knows whether the pods are on the same disk', () => {
    expect(read(nodeOf({ mountpoints: ['/apart'] }).disk())?.holdsPods).toBe(false);
  });

  it('asks again where a runtime could not tell yet', () => {
    const { disk } = nodeOf({ mountpoints: [undefined, '/images'] });
    expect(read(disk())).toBeUndefined();
    expect(read(disk())?.capacity).toBe(9);
  });
});
