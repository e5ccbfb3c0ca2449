import type { PodView } from '../../streams/view/node-view.ts';
import type { PodState } from './pod-state.ts';

// What came of a run, as `rxlet simulate -o json` prints it (docs/simulate.md). Times are seconds since its beginning.

export interface Outcome {
  readonly seed: number;
  /** How long the run was. */
  readonly seconds: number;
  readonly pods: readonly PodOutcome[];
  readonly problems: readonly ProblemSeen[];
  /** Calls that were made, by name; of those of a pod more is told there. */
  readonly calls: Readonly<Record<string, number>>;
  /** When an agent was running. */
  readonly agent: readonly Span[];
  readonly steps: readonly StepDone[];
  readonly expectations: readonly Verdict[];
}

export interface PodOutcome {
  readonly namespace: string;
  readonly name: string;
  /** Absent: it is gone. */
  readonly phase?: string;
  readonly ready: boolean;
  /** Of all its containers, since the pod of this name that there is now has begun. */
  readonly restarts: number;
  /** What holds it up, as `rxlet ps` tells it. */
  readonly note?: string;
  readonly containers: readonly ContainerOutcome[];
  /** From each time on, until the next. */
  readonly states: readonly { readonly at: number; readonly state: PodState }[];
  readonly starts: readonly Started[];
  readonly ends: readonly Ended[];
  readonly backOffs: readonly (Span & { readonly container: string; readonly reason: string })[];
  readonly events: readonly EventSeen[];
  readonly calls: Readonly<Record<string, number>>;
}

export interface ContainerOutcome {
  readonly name: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly state: 'waiting' | 'running' | 'terminated';
  readonly reason?: string;
  readonly exitCode?: number;
}

interface Started {
  readonly at: number;
  readonly container: string;
}

interface Ended {
  readonly at: number;
  readonly container: string;
  readonly exitCode: number;
  readonly reason: string;
}

export interface Span {
  readonly from: number;
  /** Absent: it goes on. */
  readonly to?: number;
}

export interface EventSeen {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly container?: string;
  readonly count: number;
}

export interface ProblemSeen extends Span {
  readonly message: string;
}

interface StepDone {
  readonly at: number;
  readonly text: string;
  /** Why it had no effect. */
  readonly problem?: string;
}

export interface Verdict {
  readonly at: number;
  readonly text: string;
  readonly isMet: boolean;
  /** What there was instead. */
  readonly found?: string;
  /** Where it stands in the script. */
  readonly line: number;
}

/** What expectations are held against: the node as it can be seen at one moment. */
export interface Sight {
  readonly pods: readonly PodView[];
  readonly problems: readonly string[];
  readonly countEvents: (reason: string, about: About) => number;
  readonly countCalls: (call: string, about: About) => number;
}

export interface About {
  readonly pod?: string;
  readonly namespace?: string;
  readonly container?: string;
}
