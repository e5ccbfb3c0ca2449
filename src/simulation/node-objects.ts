import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from '../model/cri/api.ts';

export interface SimulatedSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly state: 'ready' | 'notReady';
  /** Nanoseconds since 1970, as all times of the runtime; no two objects have the same. */
  readonly createdAt: number;
  /** Absent on the host network. */
  readonly ip?: string;
  readonly runtimeHandler: string;
}

export interface SimulatedContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly imageRef: string;
  readonly state: 'created' | 'running' | 'exited';
  readonly createdAt: number;
  /** 0 while it has not happened. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly resources: LinuxContainerResources;
}

/** Something that came to pass on the node, whether the agent listens or not. */
export interface Happening {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: 'created' | 'started' | 'exited' | 'removed';
  readonly sandbox: SimulatedSandbox;
  /** Absent when it is the sandbox itself. */
  readonly container?: SimulatedContainer;
}
