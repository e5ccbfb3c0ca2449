import { catchError, forkJoin, map, mergeMap, of, type Observable } from 'rxjs';
import type { CriStats } from '../streams/ports/cri-stats.ts';
import type { LocalUsage } from '../streams/ports/local-usage.ts';
import type { NodeUsage } from '../streams/ports/node-usage.ts';
import type { VolumeFiles } from '../streams/ports/volume-files.ts';

interface Sources {
  readonly cri: Pick<CriStats, 'imageFsInfo' | 'listContainerStats'>;
  readonly usage: Pick<NodeUsage, 'device'>;
  readonly files: Pick<VolumeFiles, 'usage'>;
  readonly rootDir: string;
}

/**
 * What pods take of the disk that holds `rootDir`: trees as they are counted, writable layers as the runtime tells them.
 * Layers count where images lie on that same disk (kubelet, dedicated image file system).
 */
export function localUsage({ cri, usage, files, rootDir }: Sources): LocalUsage {
  const isApart$: Observable<boolean> = cri.imageFsInfo().pipe(
    mergeMap(({ imageFilesystems = [] }) => {
      const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
      if (mountpoint === undefined) return of(false);
      return forkJoin([usage.device(mountpoint), usage.device(rootDir)]).pipe(
        map(([ofImages, ofPods]) => ofImages !== undefined && ofImages !== ofPods),
      );
    }),
    catchError(() => of(false)),
  );
  return {
    tree: files.usage,
    layers: (podSandboxId) =>
      isApart$.pipe(
        mergeMap((isApart) => (isApart ? of({ stats: [] }) : cri.listContainerStats({ filter: { podSandboxId } }))),
        map(
          ({ stats = [] }) =>
            new Map(
              stats.map(({ attributes, writableLayer }) => [
                attributes?.id ?? '',
                writableLayer?.usedBytes?.value ?? 0,
              ]),
            ),
        ),
      ),
  };
}
