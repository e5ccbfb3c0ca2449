import type { PodPhase } from '../../../src/streams/book/pod-book.ts';
import type { SimulatedCall } from '../../../src/simulation/faults.ts';
import type { Happening } from '../../../src/simulation/node-objects.ts';
import type { PlannedPod } from './planned-pods.ts';
import type { Happen, WorldPlan } from './world-plan.ts';

/** Everything of one world in the order in which it came to pass; `at` counts milliseconds and never jumps. */
export type Entry = { readonly at: number } & (
  | { readonly kind: 'call'; readonly index: number; readonly name: string; readonly request: unknown }
  | { readonly kind: 'happening'; readonly happening: Happening }
  | { readonly kind: 'step'; readonly step: Happen }
  /** What stands in the folder from now on, by UID. */
  | { readonly kind: 'wanted'; readonly wanted: ReadonlyMap<string, PlannedPod> }
  | { readonly kind: 'agent'; readonly isUp: boolean }
  /** The book of the agent moved a pod to another phase; absent: it was forgotten. */
  | { readonly kind: 'phase'; readonly uid: string; readonly phase?: PodPhase }
  /** The kernel kills a container for want of memory. */
  | { readonly kind: 'oomKill'; readonly id: string }
  /** The book sends a pod away for so many milliseconds; whether it does take too much of the disk. */
  | { readonly kind: 'evicted'; readonly uid: string; readonly wait: number; readonly takesTooMuch: boolean }
  /** The agent is told how full the disk with the images is; bytes. */
  | { readonly kind: 'disk'; readonly used: number; readonly capacity: number }
  /** The agent asks the runtime to remove an image; with the names of all that are there. */
  | {
      readonly kind: 'imageGoes';
      readonly names: readonly string[];
      readonly isPinned: boolean;
      readonly present: readonly string[];
    }
  /** A stream of the agent that must go on for ever did not. */
  | { readonly kind: 'streamEnd'; readonly stream: string; readonly error?: unknown }
);

export interface WorldRecord {
  readonly plan: WorldPlan;
  readonly entries: readonly Entry[];
  /** In the order in which they were sent; `index` of a call entry. */
  readonly calls: readonly SimulatedCall[];
  /** When the last fault and the last step were over. */
  readonly calmAt: number;
  /** When observed equalled desired, to stay so; absent: never in the time given. */
  readonly settledAt?: number;
  /** What was missing for that at the end. */
  readonly missing: readonly string[];
  /** Errors outside of the agent's streams. */
  readonly failures: readonly string[];
}
