import type { PodUid } from '../../model/pod.ts';
import type { ProbeKind } from '../probes/probe.ts';

/** One thing that took time, told when it is over. Times are milliseconds. */
export type Measured =
  | CriCall
  | { readonly kind: 'relist'; readonly startedAt: number; readonly took: number; readonly failed: boolean }
  | { readonly kind: 'work'; readonly uid: PodUid; readonly operation: WorkOperation; readonly took: number }
  /** The first sync of a pod, which has so many containers, init containers aside. */
  | { readonly kind: 'podBegun'; readonly containers: number; readonly took: number }
  /** Every container of the pod has begun to run; `took` since the first work on it. */
  | { readonly kind: 'podStarted'; readonly uid: PodUid; readonly took: number }
  /** A container could not be started; `code` is the kubelet's word for why. */
  | { readonly kind: 'startFailed'; readonly container: ContainerType; readonly code: string; readonly took: number }
  /** `size` in bytes, 0 where it is not known. */
  | { readonly kind: 'pull'; readonly took: number; readonly size: number }
  | { readonly kind: 'cgroup'; readonly operation: 'create' | 'update' | 'destroy'; readonly took: number }
  /** The disk was searched for folders of pods that nobody knows: so many were found, and so many of them are still there. */
  | { readonly kind: 'sweep'; readonly found: number; readonly failed: number; readonly took: number }
  | {
      readonly kind: 'probe';
      readonly probe: ProbeKind;
      readonly result: 'successful' | 'failed' | 'unknown';
      readonly took: number;
      readonly uid: PodUid;
      readonly namespace: string;
      readonly pod: string;
      readonly container: string;
    };

/** A call to the runtime. What was sent and answered holds secrets: nobody keeps it, and nobody tells more of it than names. */
export interface CriCall {
  readonly kind: 'criCall';
  /** The kubelet's name for the call, `run_podsandbox`. */
  readonly operation: string;
  readonly took: number;
  /** `cut`: cancelled before it had ended. */
  readonly outcome: 'done' | 'failed' | 'cut';
  readonly request?: unknown;
  readonly answer?: unknown;
  readonly error?: unknown;
}

export type ContainerType = 'container' | 'init_container';

/** What the kubelet calls the kinds of work on a pod. */
export type WorkOperation = 'create' | 'sync' | 'kill' | 'terminated';

/** Hears what was measured. Quick, and never throws: it is called on the way of the work itself. */
export type Meter = (measured: Measured) => void;

/** Of a node that nobody measures: what would be metered with it stays as it is. */
export const DEAF: Meter = () => undefined;
