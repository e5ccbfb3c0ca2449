import type { PodUid } from './pod.ts';

/**
 * Orders observations of the runtime: drawn from one counter when the first call of an observation
 * is sent, so a larger revision has seen everything that had been done before it was drawn.
 * Never a time: the wall clock may jump.
 */
export type Revision = number;

export type SandboxState = 'ready' | 'notReady';
export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** A pod sandbox as `ListPodSandbox` tells it; the IPs come from `PodSandboxStatus` and are absent until inspected. */
export interface ObservedSandbox {
  readonly id: string;
  readonly attempt: number;
  readonly state: SandboxState;
  /** Nanoseconds since 1970, from the runtime. */
  readonly createdAt: number;
  readonly ips?: readonly string[];
  readonly hostNetwork?: boolean;
}

/** A container as `ListContainers` tells it; `detail` comes from `ContainerStatus` and is absent until inspected. */
export interface ObservedContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly state: ContainerState;
  /** Nanoseconds since 1970, from the runtime. */
  readonly createdAt: number;
  readonly image: string;
  readonly imageRef: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly detail?: ContainerDetail;
  /** Its end is believed before the CRI has told it, which may know better why. */
  readonly early?: true;
}

export interface ContainerDetail {
  /** Nanoseconds since 1970; 0 while it has not happened. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly logPath: string;
  /** As the runtime resolved it; absent where it tells no more than the list does. */
  readonly image?: string;
  readonly imageRef?: string;
  /** As whom the first process runs; absent where the runtime does not tell (before containerd 2). */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
}

/** What the runtime holds of one pod. Newest first, by creation. */
export interface ObservedPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  readonly revision: Revision;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
}

/** Everything the runtime holds that carries our labels, at one revision. */
export interface Snapshot {
  readonly revision: Revision;
  readonly pods: ReadonlyMap<PodUid, ObservedPod>;
}
