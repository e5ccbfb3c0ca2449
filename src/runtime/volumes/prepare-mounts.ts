import { catchError, concat, concatMap, defer, map, of, throwError, toArray, type Observable } from 'rxjs';
import type { ContainerConfig, Mount } from '../../model/cri/api.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { subPathOf } from '../../model/volumes/expand-sub-path.ts';
import { subPathDir, volumeDir } from '../../model/volumes/volume-dir.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import { SubPathError } from '../../streams/ports/mounts.ts';
import { StartError } from '../ensure-image.ts';
import type { VolumeGround } from './volume-ground.ts';

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

interface MountGround extends Pick<VolumeGround, 'mounts' | 'paths'> {
  readonly cri: Pick<Cri, 'status'>;
}

/**
 * Makes ready what a container is to see of its volumes, and completes its configuration with it: parts of volumes are
 * bound, images are named, and read-only mounts become recursively so where the runtime can (facts sheet 15.4, 15.5).
 *
 * The first mounts of the configuration are those of the container's list, in its order. `images` names those of image
 * volumes by the volume. Emits the configuration once; errors with a {@link StartError}.
 */
export function prepareMounts(
  pod: Pod,
  container: Container,
  config: ContainerConfig,
  images: ReadonlyMap<string, string>,
  ground: MountGround,
): Observable<ContainerConfig> {
  const { volumeMounts = [] } = container;
  if (volumeMounts.length === 0) return of(config);
  const variables = new Map((config.envs ?? []).map(({ key = '', value }) => [key, new TextDecoder().decode(value)]));
  const all = config.mounts ?? [];
  return defer(() => canBeRecursive(pod, volumeMounts, ground)).pipe(
    concatMap((recursive) =>
      concat(
        ...volumeMounts.map((wanted, index) =>
          defer(() => partOf(pod, container, wanted, index, variables, ground)).pipe(
            map((part) => completed(all[index] ?? {}, wanted, part, images, recursive)),
          ),
        ),
      ),
    ),
    toArray(),
    map((mounts) => ({ ...config, mounts: [...mounts, ...all.slice(mounts.length)] })),
  );
}

/** Emits the fields of a mount that only now can be told. */
function partOf(
  { metadata, spec }: Pod,
  container: Container,
  wanted: VolumeMount,
  index: number,
  variables: ReadonlyMap<string, string>,
  { mounts, paths }: MountGround,
): Observable<Partial<Mount>> {
  const volume = spec.volumes?.find(({ name }) => name === wanted.name);
  const part = subPathOf(wanted, variables);
  if (part.kind === 'wrong') return refuse(part.message);
  const root = volume && volumeDir(paths, metadata, volume);
  if (root === undefined) return of(part.path === '' ? {} : { imageSubPath: part.path });
  if (part.path === '') return of({ hostPath: root });
  const target = subPathDir(paths, metadata.uid, wanted.name, container.name, index);
  return mounts.bindInside({ volume: root, subPath: part.path, target }).pipe(
    map(() => ({ hostPath: target })),
    catchError((error: unknown) => {
      // What exactly is wrong would tell a container about the node.
      const isUnmade = error instanceof SubPathError && error.step === 'make';
      const what = isUnmade ? 'create subPath directory' : 'prepare subPath';
      return refuse(`failed to ${what} for volumeMount "${wanted.name}" of container "${container.name}"`);
    }),
  );
}

function completed(
  mount: Mount,
  { name, recursiveReadOnly = 'Disabled' }: VolumeMount,
  part: Partial<Mount>,
  images: ReadonlyMap<string, string>,
  recursive: boolean,
): Mount {
  return {
    ...mount,
    ...part,
    ...(mount.image ? { image: { ...mount.image, image: images.get(name) ?? '' } } : {}),
    ...(recursive && recursiveReadOnly !== 'Disabled' ? { recursiveReadOnly: true } : {}),
  };
}

/** Asks the runtime only where somebody wants it; whoever insists is refused where it cannot. */
function canBeRecursive({ spec }: Pod, wanted: readonly VolumeMount[], { cri }: MountGround): Observable<boolean> {
  const { runtimeClassName = '' } = spec;
  if (wanted.every(({ recursiveReadOnly = 'Disabled' }) => recursiveReadOnly === 'Disabled')) return of(false);
  return cri.status().pipe(
    map(({ runtimeHandlers = [] }) => {
      const handler = runtimeHandlers.find(({ name = '' }) => name === runtimeClassName);
      return handler?.features?.recursiveReadOnlyMounts === true;
    }),
    concatMap((can) => {
      const insists = wanted.find(({ recursiveReadOnly }) => recursiveReadOnly === 'Enabled');
      if (can || !insists) return of(can);
      return refuse(
        `failed to resolve recursive read-only mode: volume "${insists.name}" requested recursive read-only mode, but it is not supported by the runtime`,
      );
    }),
  );
}

function refuse(message: string): Observable<never> {
  return throwError(() => new StartError('CreateContainerConfigError', message));
}
