import type { ObservedPod } from '../../model/observed.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { Pod, PodStatus, PodUid } from '../../model/pod.ts';
import type { Verdict } from '../../model/status/status-facts.ts';

/** Why a container waits, by container name; reason and message are the kubelet's. */
export type WaitingReasons = ReadonlyMap<string, { readonly reason: string; readonly message: string }>;

/** What the probes of one container have found, for the instance named. */
export interface ProbeFindings {
  readonly containerId: string;
  readonly liveness: 'success' | 'failure' | 'unknown';
  readonly startup: 'success' | 'failure' | 'unknown';
  readonly readiness: 'success' | 'failure' | 'unknown';
  /** It runs, and its startup probe has succeeded where it has one. */
  readonly started: boolean;
  readonly ready: boolean;
}

/**
 * What is to become of one pod next. It carries the whole intent, so that it never matters which of several
 * wake-ups brought it; `why` is for people only.
 */
export type PodWork =
  /** Make the runtime hold what the pod asks for. */
  | {
      readonly kind: 'sync';
      readonly uid: PodUid;
      readonly pod: Pod;
      /** Spares a look where it is new enough. */
      readonly observed?: ObservedPod;
      /** By container name. */
      readonly probes: ReadonlyMap<string, ProbeFindings>;
      /** The last status: what has ended for good, and since when the pod is active. */
      readonly status?: PodStatus;
      readonly why: string;
    }
  /** Bring to the node what the pod needs before it can start: its images. Touches nothing that runs. */
  | { readonly kind: 'prepare'; readonly uid: PodUid; readonly pod: Pod; readonly why: string }
  /** End every container within `grace` seconds, and sandboxes that hold ports. `pod` is absent of what nobody knows any more. */
  | {
      readonly kind: 'terminate';
      readonly uid: PodUid;
      readonly of: PodIdentity;
      readonly pod?: Pod;
      readonly grace: number;
      readonly why: string;
    }
  /** No container runs any more: remove what is left in the runtime and on disk. */
  | { readonly kind: 'cleanUp'; readonly uid: PodUid; readonly of: PodIdentity };

/** How a work ended. */
export type PodOutcome = { readonly uid: PodUid; readonly work: PodWork } & (
  | {
      readonly kind: 'synced';
      readonly observed: ObservedPod;
      readonly waiting: WaitingReasons;
      /** Nothing of the pod runs, and by its restart policy nothing ever will again. */
      readonly finished: boolean;
      /** Decided over the whole pod, whatever its containers say. */
      readonly verdict?: Verdict;
      /** Milliseconds after which the pod is to be looked at again. */
      readonly next: number;
    }
  /** All is at hand for the pod to start. */
  | { readonly kind: 'prepared' }
  /** No container of the pod runs, and nothing is left that a successor could need. */
  | { readonly kind: 'ended'; readonly observed: ObservedPod }
  | { readonly kind: 'cleanedUp' }
  /** The world did not do as it was told; `next` milliseconds from now it is tried again. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly next: number; readonly observed?: ObservedPod }
);

/** What the work on a pod tells: single facts while it goes on, and one outcome at its end. */
export type PodReport =
  | { readonly kind: 'note'; readonly uid: PodUid; readonly note: PodNote }
  /** Its start, the hook that follows on it included, goes on until the outcome. */
  | { readonly kind: 'starting'; readonly uid: PodUid; readonly container: string }
  | { readonly kind: 'outcome'; readonly uid: PodUid; readonly outcome: PodOutcome; readonly memory?: PodMemory };

/** One thing that was done or that failed, for the log and for events; reasons are the kubelet's (facts sheet 29). */
export interface PodNote {
  readonly level: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  /** Milliseconds until what failed is tried again; the log tells it, events do not. */
  readonly nextTry?: number;
}
