import { of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ListContainerStatsRequest } from '../../../src/model/cri/api.ts';
import { localUsage } from '../../../src/runtime/local-usage.ts';

const IMAGES = { imageFilesystems: [{ timestamp: 0, fsId: { mountpoint: '/images' } }] };

/** What is told of the layers in a sandbox, where images lie on device 1 and the pods on `device`. */
function layers(device: number, info$: Observable<typeof IMAGES> = of(IMAGES)) {
  const asked: (ListContainerStatsRequest | undefined)[] = [];
  const told: [string, number][][] = [];
  localUsage({
    cri: {
      imageFsInfo: () => info$,
      listContainerStats: (request) => {
        asked.push(request);
        return of({
          stats: [
            { attributes: { id: 'a' }, writableLayer: { timestamp: 0, usedBytes: { value: 7 } } },
            { attributes: { id: 'b' } },
          ],
        });
      },
    },
    usage: { device: (path) => of(path === '/images' ? 1 : device) },
    files: { usage: () => of(0) },
    rootDir: '/root',
  })
    .layers('s1')
    .subscribe({
      next: (found) => {
        told.push([...found]);
      },
      error: (error: unknown) => {
        throw error;
      },
    });
  return { asked, told };
}

describe('localUsage', () => {
  it('asks the runtime for the writable layers of one sandbox only', () => {
    expect(layers(1)).toEqual({
      asked: [{ filter: { podSandboxId: 's1' } }],
      told: [
        [
          ['a', 7],
          ['b', 0],
        ],
      ],
    });
  });

  it('does not count layers that lie on a disk of their own', () => {
    expect(layers(2)).toEqual({ asked: [], told: [[]] });
  });

  it('takes a runtime that does not tell where its images lie for one that has no disk of its own', () => {
    expect(
      layers(
        2,
        throwError(() => new Error('unimplemented')),
      ).told,
    ).toHaveLength(1);
    expect(
      layers(
        2,
        throwError(() => new Error('unimplemented')),
      ).asked,
    ).toHaveLength(1);
  });
});
