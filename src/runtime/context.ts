import type { Observable } from 'rxjs';
import type { BackoffLimits } from '../model/restart/backoff.ts';
import type { NodeFacts } from '../model/node-facts.ts';
import type { NodePaths } from '../model/paths.ts';
import type { ResourceRules } from '../model/resources.ts';
import type { ObjectSet } from '../model/objects/object-set.ts';
import type { Revisions } from '../streams/pleg/revisions.ts';
import type { Cgroups } from '../streams/ports/cgroups.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Files } from '../streams/ports/files.ts';
import type { Mounts } from '../streams/ports/mounts.ts';
import type { VolumeFiles } from '../streams/ports/volume-files.ts';
import type { UserNamespaces } from './user-namespaces.ts';

/** The fields of the configuration that running pods depends on; the names are KubeletConfiguration's. */
interface RuntimeConfig {
  readonly cgroupRoot: string;
  readonly cgroupsPerQOS: boolean;
  /** Processes of one pod; -1, or absent: no limit. */
  readonly podPidsLimit?: number;
  readonly clusterDNS: readonly string[];
  readonly clusterDomain: string;
  /** Path of the resolver configuration that pods get; empty for none. */
  readonly resolvConf: string;
  /** Whether containers without a seccomp profile get the runtime's own. */
  readonly seccompDefault: boolean;
}

/** Everything that running pods needs to know, and every way it may act. */
export interface RuntimeContext {
  readonly config: RuntimeConfig;
  readonly facts: NodeFacts;
  readonly rules: ResourceRules;
  readonly paths: NodePaths;
  readonly backoff: BackoffLimits;
  /** Milliseconds after which a sync that failed is tried again, before jitter (kubelet: 10 s). */
  readonly retryPeriod: number;
  /** Milliseconds after which a pod that is well is looked at again, before jitter (syncFrequency); one at rest, many times that. */
  readonly resyncPeriod: number;
  readonly cri: Cri;
  /**
   * Makes the runtime forget what has ended in a container or sandbox of this id without its seeing it; absent where
   * there is no runtime that would have to. Completes; errors while something of it still runs.
   */
  readonly forgetTask?: (id: string) => Observable<never>;
  /** Absent where the cgroups of pods are left to the runtime. */
  readonly cgroups?: Cgroups;
  readonly files: Files;
  readonly mounts: Mounts;
  readonly volumeFiles: VolumeFiles;
  /** The objects of this moment, at once, and then as they change. */
  readonly objects$: Observable<ObjectSet>;
  readonly userNamespaces: UserNamespaces;
  readonly revisions: Revisions;
  /** Milliseconds since some moment, by a clock that never jumps. */
  readonly monotonic: () => number;
  /** A number in [0, 1), for jitter and ids. */
  readonly random: () => number;
}
