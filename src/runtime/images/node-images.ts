import { defer, forkJoin, map, mergeMap, of, tap } from 'rxjs';
import type { Container, Image, StatusResponse } from '../../model/cri/api.ts';
import type { NodeImage } from '../../model/images/choose-images.ts';
import { fullReference } from '../../model/images/full-reference.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import type { NodeImages } from '../../streams/ports/node-images.ts';
import type { NodeUsage } from '../../streams/ports/node-usage.ts';

interface Sources {
  readonly cri: Pick<Cri, 'listImages' | 'listContainers' | 'removeImage' | 'imageFsInfo' | 'status'>;
  readonly usage: Pick<NodeUsage, 'disk' | 'device'>;
  readonly rootDir: string;
}

/**
 * The images of the node as the runtime tells them. What sandboxes are made from counts as pinned, whether the runtime
 * says so (containerd from 1.7 on, CRI-O) or only names it in its configuration (containerd 1.6).
 */
export function nodeImages({ cri, usage, rootDir }: Sources): NodeImages {
  /** Told once; a runtime does not move its images. */
  let mountpoint: string | undefined;
  const mountpoint$ = defer(() =>
    mountpoint !== undefined
      ? of(mountpoint)
      : cri.imageFsInfo().pipe(
          map(({ imageFilesystems = [] }) => imageFilesystems[0]?.fsId?.mountpoint),
          tap((found) => {
            mountpoint = found;
          }),
        ),
  );

  return {
    list: () =>
      forkJoin([cri.listImages({}), cri.listContainers({}), cri.status({ verbose: true })]).pipe(
        map(([{ images = [] }, { containers = [] }, status]) => {
          const held = new Set(containers.flatMap(referencesOf));
          const sandbox = sandboxImageOf(status);
          return images.map((image) => settled(image, held, sandbox));
        }),
      ),
    remove: ({ id }) => cri.removeImage({ image: { image: id } }),
    disk: () =>
      mountpoint$.pipe(
        mergeMap((path) =>
          path === undefined
            ? of(undefined)
            : forkJoin([usage.disk(path), usage.device(path), usage.device(rootDir)]).pipe(
                map(([disk, ofImages, ofPods]) => disk && { ...disk, holdsPods: ofImages === ofPods }),
              ),
        ),
      ),
  };
}

function settled(image: Image, held: ReadonlySet<string>, sandbox: string | undefined): NodeImage {
  const { id = '', repoTags = [], repoDigests = [], size = 0, pinned = false } = image;
  const names = [...repoTags, ...repoDigests];
  return {
    id,
    names,
    size,
    pinned: pinned || (sandbox !== undefined && names.includes(sandbox)),
    held: [id, ...names].some((name) => held.has(name)),
  };
}

/** A container names its image by what it was asked for, by what that was found to be, or by both. */
function referencesOf({ imageRef, imageId, image }: Container): readonly string[] {
  return [imageRef, imageId, image?.image, image?.userSpecifiedImage].flatMap((reference) =>
    reference === undefined || reference === '' ? [] : [fullReference(reference)],
  );
}

function sandboxImageOf({ info }: StatusResponse): string | undefined {
  try {
    const config: unknown = JSON.parse(info?.['config'] ?? '{}');
    const name = typeof config === 'object' && config !== null && 'sandboxImage' in config && config.sandboxImage;
    return typeof name === 'string' && name !== '' ? fullReference(name) : undefined;
  } catch {
    return undefined; // not every runtime tells it as JSON
  }
}
