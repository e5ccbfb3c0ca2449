import { catchError, concatMap, forkJoin, from, map, of, toArray, type Observable } from 'rxjs';
import { allContainers } from '../../model/containers.ts';
import { diskVolumes, type LocalLimits, type LocalUse } from '../../model/local-storage.ts';
import type { ObservedPod } from '../../model/observed.ts';
import { emptyDirPath, podLogDir, type NodePaths } from '../../model/paths.ts';
import type { Pod } from '../../model/pod.ts';
import type { LocalUsage } from '../ports/local-usage.ts';

/**
 * Looks at what a pod takes of the disk, as far as its limits ask for it; one tree after another. What cannot be looked
 * at counts as nothing. Emits once and completes; never errors.
 */
export function measurePod(
  { metadata, spec }: Pod,
  observed: ObservedPod | undefined,
  limits: LocalLimits,
  usage: LocalUsage,
  paths: NodePaths,
): Observable<LocalUse> {
  const volumes = diskVolumes(spec).filter(({ name }) => limits.pod !== undefined || limits.volumes.has(name));
  const containers = allContainers(spec).filter(({ name }) => limits.pod !== undefined || limits.containers.has(name));

  const treesOf$ = (
    names: readonly string[],
    pathOf: (name: string) => string,
  ): Observable<ReadonlyMap<string, number>> =>
    from(names).pipe(
      concatMap((name) =>
        usage.tree(pathOf(name)).pipe(
          catchError(() => of(0)),
          map((bytes) => [name, bytes] as const),
        ),
      ),
      toArray(),
      map((entries) => new Map(entries)),
    );

  const sandbox = observed?.sandboxes.find(({ state }) => state === 'ready');
  const layers$ =
    sandbox && containers.length > 0 ? usage.layers(sandbox.id).pipe(catchError(() => of(NO_LAYERS))) : of(NO_LAYERS);

  return forkJoin({
    volumes: treesOf$(
      volumes.map(({ name }) => name),
      (name) => emptyDirPath(paths, metadata.uid, name),
    ),
    logs: treesOf$(
      containers.map(({ name }) => name),
      (name) => `${podLogDir(paths, metadata)}/${name}`,
    ),
    layers: layers$,
  }).pipe(
    map(({ volumes: inVolumes, logs, layers }): LocalUse => {
      const layerOf = (name: string): number =>
        (observed?.containers ?? [])
          .filter((container) => container.name === name && container.state === 'running')
          .reduce((sum, { id }) => sum + (layers.get(id) ?? 0), 0);
      return {
        volumes: inVolumes,
        containers: new Map([...logs].map(([name, bytes]) => [name, bytes + layerOf(name)])),
      };
    }),
  );
}

const NO_LAYERS: ReadonlyMap<string, number> = new Map();
