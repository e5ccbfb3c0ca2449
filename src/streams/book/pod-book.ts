import type { AdmissionNode, Refusal } from '../../model/admission/admission-node.ts';
import type { Amounts } from '../../model/admission/amounts.ts';
import type { PodChange } from '../../model/desired.ts';
import type { UpdateMode } from '../../model/rxlet-annotations.ts';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { ObjectKey } from '../../model/objects/local-object.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { FullName, Pod, PodStatus, PodUid } from '../../model/pod.ts';
import type { BackoffLimits } from '../../model/restart/backoff.ts';
import type { Eviction } from '../../model/restart/eviction.ts';
import type { Verdict } from '../../model/status/status-facts.ts';
import type { PodNote, PodOutcome, PodWork, ProbeFindings, WaitingReasons } from '../workers/pod-work.ts';

/**
 * The life of a pod here, from the first wish for it to its last trace.
 *
 * ```text
 *                 prepared          name is free                 removed, replaced
 *   preparing ──► waiting ────────────────► syncing ─────────────────────► terminating ──► ended ──► (forgotten)
 *      ▲             ▲ no room, and back       │  every container is done for good            ▲
 *      └─ refused ◄──┘                         └────────────► finished ───────────────────────┘ removed
 * ```
 *
 * What is `preparing`, `waiting` or `refused` is forgotten when it is removed: nothing of it has begun.
 *
 * | phase         | means                                                                    | holds its full name |
 * | ------------- | ------------------------------------------------------------------------ | ------------------- |
 * | `preparing`   | wanted in the place of a pod that runs on until all is at hand for this one | no               |
 * | `waiting`     | wanted, but the runtime is not known yet, a predecessor has the name, or it was evicted a short while ago | no |
 * | `refused`     | wanted, but the node does not take it; judged again when that may change | no                  |
 * | `syncing`     | wanted; kept as the manifest says                                        | yes                 |
 * | `finished`    | wanted, but by its restart policy nothing of it runs again               | yes                 |
 * | `terminating` | to be ended; something may still run                                     | yes                 |
 * | `ended`       | nothing runs; its leftovers are being removed                            | no                  |
 *
 * The edges are the functions of `edges.ts`: there is no other way from one phase to another.
 */
export type PodPhase = Entry['phase'];

export type Entry = Preparing | Waiting | Refused | Syncing | Finished | Terminating | Ended;

/** Wanted in the place of a pod that runs on. */
export interface Preparing extends Known, Worked {
  readonly phase: 'preparing';
  readonly pod: Pod;
}

export interface Waiting extends Known {
  readonly phase: 'waiting';
  readonly pod: Pod;
  /** It fits as soon as somebody who is ending has left; until then, this is what stands in its way. */
  readonly refusal?: Refusal;
  /** It was evicted, nothing of it is left, and its time to begin anew has not come. */
  readonly isOut?: true;
}

export interface Refused extends Known {
  readonly phase: 'refused';
  readonly pod: Pod;
  readonly refusal: Refusal;
}

export type Syncing = Begun & Worked & InSync & { readonly phase: 'syncing' } & (Kept | Lingering);

interface InSync {
  /** Containers that the work in flight starts, together with their postStart hooks: they are shown as before until it ends. */
  readonly starting?: ReadonlySet<string>;
}

/** Wanted. With a successor it is not wanted any more, and runs on only until that one can take its place. */
interface Kept {
  readonly pod: Pod;
  readonly successor?: PodUid;
}

/** Found in the runtime, and wanted by nobody but as what runs until its successor is ready. */
interface Lingering {
  readonly pod?: never;
  readonly successor: PodUid;
}

export interface Finished extends Begun {
  readonly phase: 'finished';
  readonly pod: Pod;
}

export interface Terminating extends Begun, Worked {
  readonly phase: 'terminating';
  /** Absent for what the runtime holds and nobody wants. */
  readonly pod?: Pod;
  /** Wanted again under the same UID when it has ended. */
  readonly again?: Pod;
  readonly successor?: PodUid;
}

export interface Ended extends Begun, Worked {
  readonly phase: 'ended';
  readonly pod?: Pod;
  readonly again?: Pod;
}

/** What is known of every pod. */
export interface Known {
  readonly uid: PodUid;
  readonly of: PodIdentity;
  readonly name: FullName;
  /** Seconds that its containers get to end. */
  readonly grace: number;
  readonly why: string;
  readonly observed?: ObservedPod;
  /** As it was last told; of a pod that was here before the agent started, as it was then. */
  readonly status?: PodStatus;
  /** That it was evicted the last time, however long ago. */
  readonly eviction?: Eviction;
}

/** What is known of a pod that has its place, or had it. */
export interface Begun extends Known {
  readonly waiting: WaitingReasons;
  /** By container name. */
  readonly probes: ReadonlyMap<string, ProbeFindings>;
  readonly verdict?: Verdict;
}

/** Of a pod for which there is work to do in its phase. */
interface Worked {
  /** What the last work of this phase failed with, until one succeeds. */
  readonly error?: unknown;
}

export interface PodBook {
  readonly entries: ReadonlyMap<PodUid, Entry>;
  /** The runtime has been listed once, so it is known what runs already. */
  readonly runtimeSeen: boolean;
  /** What it held when it was last listed. */
  readonly listed: Snapshot;
  /** What is kept account of, so that not every event needs a look at all entries; absent where nobody has counted. */
  readonly places?: Places;
  /** Judging those pods has changed something the last time, so it may do so again. */
  readonly isMoving?: boolean;
  /** What was up when the runtime was last listed: it has its place, whatever the node would say of it today. */
  readonly up: ReadonlyMap<PodUid, true>;
  /** What the runtime held then and no page is for yet: it may still be wanted, or be in the way of what is. */
  readonly strangers: ReadonlyMap<PodUid, ObservedPod>;
  /** Every source has told what it wants, so what is in no set is wanted by nobody. */
  readonly allSeen: boolean;
  /** Everything is being ended, and nothing starts any more. */
  readonly draining: boolean;
  readonly facts: BookFacts;
}

/** What is kept account of from page to page, so that what one pod does costs no look at all others. */
export interface Places {
  /** Whose entries have a full name, the oldest first. */
  readonly names: ReadonlyMap<FullName, readonly PodUid[]>;
  /** Who has yet to be judged, again or for the first time, in the order in which they began to wait. */
  readonly pending: ReadonlyMap<PodUid, true>;
  /** What all those take of the node that have their place; undefined when it is too much to be reckoned exactly. */
  readonly used: Amounts | undefined;
  /** Those of them that take ports of the node. */
  readonly ported: ReadonlyMap<PodUid, Pod>;
}

/** What the pages need to know of the node; it does not change while the agent runs. */
export interface BookFacts {
  readonly runtimeName: string;
  readonly hostIps: readonly string[];
  /** Handlers of the runtime that can mount recursively read-only; absent: none. */
  readonly recursiveReadOnly?: ReadonlySet<string>;
  /** What pods do that say nothing about it themselves when their manifest changes. */
  readonly update: UpdateMode;
  /** What an earlier run of the agent knew last, of pods that have not been forgotten since. */
  readonly statuses: ReadonlyMap<PodUid, PodStatus>;
  /** How long evicted pods stay away, and who was evicted under an earlier run of the agent; absent: none ever is. */
  readonly eviction?: { readonly backoff: BackoffLimits; readonly kept: ReadonlyMap<PodUid, Eviction> };
  /** By what pods are judged before they begin; absent where every pod is taken. */
  readonly node?: AdmissionNode;
}

export type BookEvent =
  /** What one set of one source changed, in the order REMOVE, ADD, UPDATE, DELETE, RECONCILE. */
  | { readonly kind: 'changes'; readonly changes: readonly PodChange[] }
  /** Objects that serve pods came, went or changed. */
  | { readonly kind: 'objects'; readonly keys: ReadonlySet<ObjectKey> }
  | { readonly kind: 'allSeen' }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'sighting'; readonly pod: ObservedPod }
  | { readonly kind: 'probe'; readonly uid: PodUid; readonly container: string; readonly findings: ProbeFindings }
  /** A container with a postStart hook is about to be started; that goes on until the outcome. */
  | { readonly kind: 'starting'; readonly uid: PodUid; readonly container: string }
  | { readonly kind: 'outcome'; readonly outcome: PodOutcome }
  /** The time that the last outcome of the pod named has come. */
  | { readonly kind: 'wake'; readonly uid: PodUid }
  /** What failed may be tried again at once: the runtime has come back. */
  | { readonly kind: 'runtimeReady' }
  /** It takes more of the node than it may. */
  | { readonly kind: 'evict'; readonly uid: PodUid; readonly message: string }
  /** The time at which the evicted pod begins anew has come. */
  | { readonly kind: 'return'; readonly uid: PodUid }
  | { readonly kind: 'drain' };

/** A page of the book: what is known now, and the work that follows from the last event. */
export interface Page {
  readonly book: PodBook;
  readonly work: readonly PodWork[];
  /** What the page itself has to tell: who was refused, and who had to make room. */
  readonly notes: readonly BookNote[];
}

export interface BookNote {
  readonly uid: PodUid;
  readonly note: PodNote;
}

export function emptyBook(facts: BookFacts): PodBook {
  return {
    entries: new Map(),
    runtimeSeen: false,
    listed: { revision: -1, pods: new Map() },
    up: new Map(),
    strangers: new Map(),
    allSeen: false,
    draining: false,
    facts,
  };
}
