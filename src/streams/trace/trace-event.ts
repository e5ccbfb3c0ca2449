import type { PodIdentity } from '../../model/paths.ts';
import type { PodChange } from '../../model/desired.ts';
import type { PodPhase } from '../book/pod-book.ts';
import type { ProbeKind } from '../probes/probe.ts';
import type { PodNote, PodWork, ProbeFindings } from '../workers/pod-work.ts';

/**
 * One thing that the agent heard, decided or did, in its decisive fields only: no manifest, no variable, no answer of
 * the runtime is in it or held by it. `took` and `next` are milliseconds.
 */
export type TraceFact = Heard | Decided | Done;

/** What came in. */
type Heard =
  /** A source wants a pod otherwise than before. */
  | {
      readonly kind: 'change';
      readonly pod: PodIdentity;
      readonly op: PodChange['op'];
      readonly source: string;
      readonly why?: string;
    }
  /** An object that serves pods is there, is another one or has gone; `object` is `kind/namespace/name`. */
  | { readonly kind: 'object'; readonly object: string }
  /** The runtime says that something happened. */
  | { readonly kind: 'hint'; readonly pod: PodIdentity }
  /** A pod has changed; the newest instance of each of its containers, `web running`. */
  | { readonly kind: 'sighting'; readonly pod: PodIdentity; readonly containers: readonly string[] }
  | { readonly kind: 'relist'; readonly took: number; readonly failed: boolean }
  /** The book hears what the runtime holds. */
  | { readonly kind: 'snapshot'; readonly pods: number }
  /** A container was asked once. */
  | {
      readonly kind: 'probe';
      readonly pod: PodIdentity;
      readonly container: string;
      readonly probe: ProbeKind;
      readonly result: 'successful' | 'failed' | 'unknown';
      readonly took: number;
    }
  /** What the probes of a container have found changed. */
  | ({ readonly kind: 'finding'; readonly pod: PodIdentity; readonly container: string } & Omit<
      ProbeFindings,
      'containerId'
    >)
  /** The time has come to look at a pod again. */
  | { readonly kind: 'wake'; readonly pod: PodIdentity }
  | { readonly kind: 'signal'; readonly signal: 'allSeen' | 'runtimeReady' | 'drain' }
  /** Something is wrong in a manifest, or is not any more. `name` is `namespace/name` of the pod, where it is known. */
  | { readonly kind: 'problem'; readonly message: string; readonly mended: boolean; readonly name?: string };

/** What followed from it. */
type Decided =
  | {
      readonly kind: 'phase';
      readonly pod: PodIdentity;
      readonly from: PodPhase | 'new';
      readonly to: PodPhase | 'gone';
      readonly why?: string;
    }
  /** Work is handed out; it waits where the pod is being worked on. */
  | { readonly kind: 'work'; readonly pod: PodIdentity; readonly work: PodWork['kind']; readonly why?: string }
  /** What a sync is going to do, step by step: `startContainer web`. */
  | { readonly kind: 'plan'; readonly pod: PodIdentity; readonly steps: readonly string[] };

/** What was done about it. */
type Done =
  | { readonly kind: 'begin'; readonly pod: PodIdentity; readonly work: PodWork['kind'] }
  /** A call to the runtime is over. `call` is the kubelet's name for it; `cut`: it was cancelled. */
  | {
      readonly kind: 'call';
      readonly call: string;
      readonly took: number;
      readonly outcome: 'done' | 'failed' | 'cut';
      readonly pod?: PodIdentity;
      readonly container?: string;
      readonly image?: string;
      readonly error?: string;
    }
  | {
      readonly kind: 'note';
      readonly pod: PodIdentity;
      readonly level: PodNote['level'];
      readonly reason: string;
      readonly message: string;
      readonly container?: string;
    }
  /** The work on a pod is over. `cut`: by a stronger one. */
  | {
      readonly kind: 'outcome';
      readonly pod: PodIdentity;
      readonly work: PodWork['kind'];
      readonly outcome: 'synced' | 'finished' | 'prepared' | 'ended' | 'cleanedUp' | 'failed' | 'cut';
      readonly took: number;
      /** When the pod gets its next turn, from now on. */
      readonly next?: number;
      /** Why containers wait, `web CrashLoopBackOff`. */
      readonly waiting?: readonly string[];
      readonly error?: string;
    };

/** What happened before was not kept, or not taken by whoever reads: so many events are missing here. */
export interface TraceGap {
  readonly kind: 'gap';
  readonly lost: number;
}

/** `seq` counts from 1 without holes but at a gap, which has the number of the last event lost; `at` is milliseconds since 1970. */
export type TraceEvent = { readonly seq: number; readonly at: number } & (TraceFact | TraceGap);
