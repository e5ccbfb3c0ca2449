import type { Problem } from '../../model/desired.ts';
import type { Pod, PodStatus } from '../../model/pod.ts';

/** What rxlet shows of one pod. */
export interface PodView {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** `waiting`: not begun yet, or held back by an older pod of its name. `stopped`: by hand, and nothing of it is left. */
  readonly phase: 'waiting' | 'syncing' | 'terminating' | 'terminated' | 'stopped';
  /** One sentence on what holds the pod up. */
  readonly note?: string;
}

/** Everything rxlet shows of its node at one moment. Whole, never a delta, and plain JSON. */
export interface NodeView {
  readonly pods: readonly PodView[];
  readonly problems: readonly Problem[];
  readonly runtime: {
    readonly ready: boolean;
    /** Why it is not ready; empty when it is. */
    readonly message: string;
    /** As the runtime calls itself, `containerd`; empty until it has answered. */
    readonly name: string;
    readonly version: string;
  };
  readonly plegHealthy: boolean;
  /** Which call the runtime has owed for too long; empty when all is well. */
  readonly plegMessage: string;
}
