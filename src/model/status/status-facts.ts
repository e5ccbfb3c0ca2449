import type { ObservedPod } from '../observed.ts';
import type { PodStatus } from '../pod.ts';

export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type ContainerState = NonNullable<ContainerStatus['state']>;
export type Condition = NonNullable<PodStatus['conditions']>[number];
export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** What the probes of a container say, as far as it has any. */
export interface Probed {
  readonly started: boolean;
  readonly ready: boolean;
}

/** A decision over the whole pod that its containers cannot tell: `Failed` with `DeadlineExceeded`, `Evicted`, ... */
export interface Verdict {
  readonly phase: 'Failed' | 'Pending';
  readonly reason: string;
  readonly message: string;
  /** The node ends it for the sake of others: the message of its DisruptionTarget condition. */
  readonly disruption?: string;
}

/** Everything that a pod's status is made of, beside the pod. */
export interface StatusFacts {
  readonly observed: ObservedPod | undefined;
  /** By container name: why it is not running, where the agent knows better than the runtime. */
  readonly waiting: ReadonlyMap<string, { readonly reason: string; readonly message: string }>;
  /** Names of containers that are being started, their postStart hooks included; absent: none. */
  readonly starting?: ReadonlySet<string>;
  /** By container name; absent while a container with probes has not been probed yet. */
  readonly probed: ReadonlyMap<string, Probed>;
  readonly verdict: Verdict | undefined;
  /** `containerd`, `cri-o`: the scheme of container ids. */
  readonly runtimeName: string;
  /** Handlers of the runtime that can mount recursively read-only; absent: none. */
  readonly recursiveReadOnly?: ReadonlySet<string>;
  readonly hostIps: readonly string[];
  /** It is being ended, so that what is gone is gone on purpose. */
  readonly isEnding: boolean;
  /** There is work on it that is not done: what has ended may be about to start again. False unless told. */
  readonly goesOn?: boolean;
  /** Milliseconds since 1970: the time of what changes in the status now. */
  readonly now: number;
}
