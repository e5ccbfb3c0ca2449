import type { PodUid } from '../../model/pod.ts';
import type { ProbeKind } from '../../streams/probes/probe.ts';
import type { World } from '../../streams/agent/world.ts';
import type { PerformContext } from '../../runtime/perform-context.ts';

/** Of the form of recordings; another number cannot be read. */
export const FORMAT = 1;

/** What decisions are made on that does not change while an agent runs. */
export interface Ground
  extends
    Pick<PerformContext, 'config' | 'facts' | 'rules' | 'paths' | 'backoff' | 'retryPeriod' | 'resyncPeriod'>,
    Pick<World, 'kept'> {
  readonly book: World['facts'];
  /** Ports that not every node has. */
  readonly has: readonly string[];
}

/** The first line. Times of the others count from its `at`, in milliseconds. */
export interface Header {
  readonly recording: typeof FORMAT;
  /** Version of the rxlet that was recorded. */
  readonly rxlet: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly node: string;
  /** From which all jitter comes. */
  readonly seed: number;
  /** What the monotonic clock is ahead of the wall clock, in milliseconds. */
  readonly clock: number;
  readonly ground: unknown;
}

/** The other lines. Fields of type `unknown` are values as `valueWriter` writes them. */
export type Line =
  /** What a number means from now on. */
  { readonly k: 'def'; readonly n: number; readonly v: unknown } | ({ readonly t: number } & TimedLine);

export type TimedLine =
  /** An event of the book, and what was decided upon it. */
  | { readonly k: 'page'; readonly event: unknown; readonly decided: unknown }
  /** The runtime is looked at: at all of it, or at one pod, which an earlier look may have listed. */
  | { readonly k: 'look'; readonly id: number; readonly uid?: PodUid; readonly listed?: number }
  /** What came of a look: it has seen something, has failed, or nobody waited for it any more. */
  | { readonly k: 'seen' | 'blind' | 'unseen'; readonly id: number }
  /** Work on a pod begins. */
  | { readonly k: 'begin'; readonly id: number; readonly uid: PodUid; readonly pod: string; readonly work: string }
  | { readonly k: 'report'; readonly id: number; readonly report: unknown }
  /** It is over: by itself, or cut short by a stronger one. */
  | { readonly k: 'end' | 'cut'; readonly id: number }
  /** Something is asked of the world, by the work or look named. */
  | { readonly k: 'call'; readonly n: number; readonly to: string; readonly args: unknown; readonly id?: number }
  | { readonly k: 'answer'; readonly n: number; readonly value?: unknown }
  | { readonly k: 'error'; readonly n: number; readonly error: unknown }
  /** The call is over: it has answered, or nobody waits for it any more. */
  | { readonly k: 'done' | 'dropped'; readonly n: number }
  /** The call wants to know what its question left open, as the sandbox for which an image is pulled. */
  | { readonly k: 'wants'; readonly n: number }
  /** What a probe was answered. What follows from it is an event of the book. */
  | {
      readonly k: 'probe';
      readonly uid: PodUid;
      readonly container: string;
      readonly probe: ProbeKind;
      readonly answer?: unknown;
      readonly error?: unknown;
    }
  /** A clock was set: what the monotonic one is ahead now. */
  | { readonly k: 'clock'; readonly ahead: number };
