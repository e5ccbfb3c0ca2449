import { asyncScheduler, map, timer } from 'rxjs';
import type { ImageSpec } from '../model/cri/api.ts';
import type { Cri } from '../streams/ports/cri.ts';
import { asks, does, refusal, type RuntimeParts } from './runtime-parts.ts';

type ImageCalls = Pick<Cri, 'pullImage' | 'imageStatus' | 'listImages' | 'removeImage' | 'imageFsInfo'>;

const MOUNTPOINT = '/var/lib/simulated';

export function imageCalls({ calls, images }: RuntimeParts): ImageCalls {
  return {
    pullImage: (request) => {
      const name = nameOf(request.image);
      const { pullTime = 0, pullError } = images.known(name);
      return calls.call({
        name: 'PullImage',
        request,
        effect: () =>
          timer(pullTime).pipe(
            map(() => {
              if (pullError !== undefined) throw refusal('PullImage', pullError);
              return { imageRef: images.fetch(name).id };
            }),
          ),
      });
    },
    imageStatus: (request) =>
      asks(calls, 'ImageStatus', request, () => ({ image: images.find(nameOf(request.image)) })),
    listImages: (request) =>
      asks(calls, 'ListImages', request, () => {
        const wanted = nameOf(request.filter?.image);
        const image = images.find(wanted);
        return { images: wanted === '' ? images.all() : image ? [image] : [] };
      }),
    removeImage: (request) =>
      does(calls, 'RemoveImage', request, () => {
        images.remove(nameOf(request.image));
      }),
    imageFsInfo: () =>
      asks(calls, 'ImageFsInfo', {}, () => {
        const held = images.all();
        const usedBytes = { value: held.reduce((sum, { size = 0 }) => sum + size, 0) };
        const inodesUsed = { value: held.length };
        const timestamp = asyncScheduler.now() * 1e6;
        return {
          imageFilesystems: [{ timestamp, fsId: { mountpoint: MOUNTPOINT }, usedBytes, inodesUsed }],
          containerFilesystems: [],
        };
      }),
  };
}

function nameOf(image: ImageSpec | undefined): string {
  return image?.image ?? '';
}
