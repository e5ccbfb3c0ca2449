import type { Observable } from 'rxjs';
import type { NodeFacts } from '../../model/node-facts.ts';
import type { NodePaths } from '../../model/paths.ts';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import type { Files } from '../../streams/ports/files.ts';
import type { Mounts } from '../../streams/ports/mounts.ts';
import type { VolumeFiles } from '../../streams/ports/volume-files.ts';

/** All that volumes are made with. */
export interface VolumeGround {
  readonly files: Files;
  readonly mounts: Mounts;
  readonly volumeFiles: VolumeFiles;
  readonly paths: NodePaths;
  /** The objects of this moment, at once, and then as they change. */
  readonly objects$: Observable<ObjectSet>;
  readonly facts: Pick<NodeFacts, 'allocatable' | 'memoryCapacity'>;
}

/** File systems by the path at which they are in sight, below the pod's folder. */
export type MountTypes = ReadonlyMap<string, string>;
