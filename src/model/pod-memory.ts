import type { ObservedPod, Revision } from './observed.ts';
import type { Backoff } from './restart/backoff.ts';

/** A back-off that holds as long as `key` does: image and resources, which an edit may mend. */
export interface KeyedBackoff {
  readonly key: string;
  readonly backoff: Backoff;
}

/** A pull that failed, and until when it is not tried again (milliseconds since 1970). */
export interface FailedPull {
  readonly delay: number;
  readonly until: number;
  readonly error: string;
  /** Version of the objects that its pull secrets were looked for in. */
  readonly objects?: number;
}

/** A volume that could not be mounted, and until when that is not tried again (milliseconds, and since 1970). */
export interface FailedMount {
  /** When it was first found not to be ready. */
  readonly since: number;
  readonly delay: number;
  readonly until: number;
  readonly error: string;
  /** Version of the objects that there were then. */
  readonly objects?: number;
}

/** What a running container was last given of what can be changed while it runs. */
export interface AppliedResources {
  readonly id: string;
  /** Request and limit, as the manifest has them, by resource. */
  readonly amounts: Readonly<Record<string, readonly string[]>>;
}

/** What the agent remembers of a pod between two syncs, because the runtime does not. */
export interface PodMemory {
  /** By container name. */
  readonly restarts: ReadonlyMap<string, KeyedBackoff>;
  /** By image. */
  readonly pulls: ReadonlyMap<string, FailedPull>;
  /** By volume name. */
  readonly mounts: ReadonlyMap<string, FailedMount>;
  /** By container name. */
  readonly resources: ReadonlyMap<string, AppliedResources>;
  /** What the pod's cgroup was last limited to, as JSON; absent where that is not known. */
  readonly limits: string | undefined;
  /** Sandboxes that had to be made anew in quick succession; milliseconds. */
  readonly sandbox: Backoff | undefined;
  /** When the pod became active, by the monotonic clock (milliseconds); not before its first sync. */
  readonly activeSince: number | undefined;
  /** Syncs or kills in a row that did not reach what they wanted. */
  readonly failures: number;
  /** The newest revision when the pod was last acted upon: older observations do not show what was done. */
  readonly actedAt: Revision;
  /** What there was to see after that. */
  readonly seen?: ObservedPod;
}

export const NO_MEMORY: PodMemory = {
  restarts: new Map(),
  pulls: new Map(),
  mounts: new Map(),
  resources: new Map(),
  limits: undefined,
  sandbox: undefined,
  activeSince: undefined,
  failures: 0,
  actedAt: -1,
};
