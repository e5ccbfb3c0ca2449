import type { PodChange } from '../../model/desired.ts';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { FullName, Pod, PodStatus, PodUid } from '../../model/pod.ts';
import type { Verdict } from '../../model/status/status-facts.ts';
import type { PodOutcome, PodWork, ProbeFindings, WaitingReasons } from '../workers/pod-work.ts';

/**
 * The life of a pod here, from the first wish for it to its last trace.
 *
 * ```text
 *                 prepared          name is free                 removed, replaced
 *   preparing ──► waiting ────────────────► syncing ─────────────────────► terminating ──► ended ──► (forgotten)
 *      │             │                         │  every container is done for good            ▲
 *      └─────────────┴──► (forgotten)          └────────────► finished ───────────────────────┘ removed
 * ```
 *
 * | phase         | means                                                                    | holds its full name |
 * | ------------- | ------------------------------------------------------------------------ | ------------------- |
 * | `preparing`   | wanted in the place of a pod that runs on until all is at hand for this one | no               |
 * | `waiting`     | wanted, but the runtime is not known yet or a predecessor has the name    | no                  |
 * | `syncing`     | wanted; kept as the manifest says                                        | yes                 |
 * | `finished`    | wanted, but by its restart policy nothing of it runs again               | yes                 |
 * | `terminating` | to be ended; something may still run                                     | yes                 |
 * | `ended`       | nothing runs; its leftovers are being removed                            | no                  |
 */
export type PodPhase = 'preparing' | 'waiting' | 'syncing' | 'finished' | 'terminating' | 'ended';

export interface Entry {
  readonly uid: PodUid;
  readonly of: PodIdentity;
  readonly name: FullName;
  readonly phase: PodPhase;
  /** Absent for what the runtime holds and nobody wants. */
  readonly pod?: Pod;
  /** Wanted again under the same UID while it is still being ended. */
  readonly again?: Pod;
  /** It is not wanted any more, and runs on only until this one can take its place. */
  readonly successor?: PodUid;
  /** Seconds that its containers get to end. */
  readonly grace: number;
  readonly why: string;
  readonly observed?: ObservedPod;
  readonly waiting: WaitingReasons;
  /** By container name. */
  readonly probes: ReadonlyMap<string, ProbeFindings>;
  /** What the last work failed with, until one succeeds. */
  readonly error?: unknown;
  readonly verdict?: Verdict;
  /** As it was last told; of a pod that was here before the agent started, as it was then. */
  readonly status?: PodStatus;
}

export interface PodBook {
  readonly entries: ReadonlyMap<PodUid, Entry>;
  /** The runtime has been listed once, so it is known what runs already. */
  readonly runtimeSeen: boolean;
  /** Every source has told what it wants, so what is in no set is wanted by nobody. */
  readonly allSeen: boolean;
  /** Everything is being ended, and nothing starts any more. */
  readonly draining: boolean;
  readonly facts: BookFacts;
}

/** What the pages need to know of the node; it does not change while the agent runs. */
export interface BookFacts {
  readonly runtimeName: string;
  readonly hostIps: readonly string[];
  /** What pods do that say nothing about it themselves when their manifest changes. */
  readonly update: UpdateMode;
  /** What an earlier run of the agent knew last. */
  readonly statuses: ReadonlyMap<PodUid, PodStatus>;
}

/** `prepare`: the old pod runs on until all is at hand for the new one. `immediate`: it is ended at once. */
export type UpdateMode = 'prepare' | 'immediate';

export type BookEvent =
  /** What one set of one source changed, in the order REMOVE, ADD, UPDATE, DELETE, RECONCILE. */
  | { readonly kind: 'changes'; readonly changes: readonly PodChange[] }
  | { readonly kind: 'allSeen' }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'sighting'; readonly pod: ObservedPod }
  | { readonly kind: 'probe'; readonly uid: PodUid; readonly container: string; readonly findings: ProbeFindings }
  | { readonly kind: 'outcome'; readonly outcome: PodOutcome }
  /** The time that the last outcome of the pod named has come. */
  | { readonly kind: 'wake'; readonly uid: PodUid }
  /** What failed may be tried again at once: the runtime has come back. */
  | { readonly kind: 'runtimeReady' }
  | { readonly kind: 'drain' };

/** A page of the book: what is known now, and the work that follows from the last event. */
export interface Page {
  readonly book: PodBook;
  readonly work: readonly PodWork[];
}

export function emptyBook(facts: BookFacts): PodBook {
  return { entries: new Map(), runtimeSeen: false, allSeen: false, draining: false, facts };
}
