import type { Position } from '../../model/desired.ts';
import type { PodVerb } from '../../model/pod-command.ts';
import type { Fault, FaultRates } from '../../simulation/faults.ts';
import type { SimulatedImage } from '../../simulation/image-store.ts';
import type { DiskState } from '../../simulation/memory-disk.ts';
import type { ProcessScript } from '../../simulation/process-script.ts';
import type { ProbeKind } from '../../streams/probes/probe.ts';

// Times and durations are milliseconds, times counted from the beginning of the run.

/** What a script says of a simulated node: how it is, what happens on it, and what is expected to come of that. */
export interface Script {
  readonly for?: number;
  readonly seed?: number;
  readonly node: NodeScript;
  readonly images: Readonly<Record<string, SimulatedImage>>;
  readonly containers: readonly ContainerRule[];
  readonly dice: FaultRates;
  /** In the order of the script. */
  readonly steps: readonly Step[];
  readonly expectations: readonly Expectation[];
}

export interface NodeScript {
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  readonly disk: number;
  /** Whether the runtime has a stream of events. */
  readonly events: boolean;
}

/** Whom something is about; what is absent is any. */
export interface Whose {
  /** As its manifest or `rxlet ps` names it. */
  readonly pod?: string;
  readonly namespace?: string;
  readonly container?: string;
}

/** What the processes of some containers do; the first rule that fits a container holds. */
export interface ContainerRule extends Whose {
  /** Of the instances of a container in turn; `each`: of all of them. Those beyond run for ever. */
  readonly exits: { readonly each: Exit } | { readonly list: readonly Exit[] };
  readonly onTerm?: { readonly after: number; readonly code: number } | 'ignored';
  readonly startError?: string;
  readonly terminationMessage?: string;
  readonly prints: NonNullable<ProcessScript['prints']>;
  readonly exec: readonly ExecRule[];
  readonly probes: readonly ProbeRule[];
}

interface Exit {
  readonly after: number;
  /** Up to so much later, by the seed. */
  readonly spread: number;
  readonly code: number;
  readonly reason?: string;
}

export interface ExecRule {
  /** Absent: any. */
  readonly command?: readonly string[];
  readonly exitCode: number;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly after: number;
}

/** When probes do not succeed. */
export interface ProbeRule {
  /** Absent: all. */
  readonly probe?: ProbeKind;
  /** Times of the run, and ages of the process. */
  readonly from: number;
  readonly to: number;
  readonly fromAge: number;
  readonly toAge: number;
  readonly answer: 'failure' | 'timeout' | 'warning';
  readonly output?: string;
}

export type Step = Act & {
  readonly at: number;
  readonly position: Position;
};

export type Act =
  /** `file` is where the new content is; `as` the name in the folder. */
  | { readonly do: 'addManifest'; readonly file: string; readonly as: string; readonly content: string }
  | { readonly do: 'editManifest'; readonly file: string; readonly replace: string; readonly with: string }
  | { readonly do: 'removeManifest'; readonly file: string }
  | ({ readonly do: 'exitContainer'; readonly code: number; readonly reason?: string } & Whose)
  | ({ readonly do: 'killSandbox' } & Whose)
  | ({ readonly do: 'commandPod'; readonly verb: PodVerb } & Whose)
  | ({ readonly do: 'fillVolume'; readonly volume: string; readonly size: number } & Whose)
  | ({ readonly do: 'fault' } & FaultRule)
  | { readonly do: 'restartRuntime'; readonly for: number; readonly loseSandboxes: boolean }
  | { readonly do: 'reboot' }
  | { readonly do: 'cutEvents' }
  | { readonly do: 'crashAgent'; readonly for: number }
  /** Without `for` it stays so. */
  | { readonly do: 'disk'; readonly state: Exclude<DiskState, 'ok'>; readonly for?: number }
  | { readonly do: 'networkDown'; readonly for?: number }
  | { readonly do: 'setClock'; readonly by: number };

/** Calls that go wrong from a step on. */
export interface FaultRule extends Pick<Whose, 'pod' | 'namespace'> {
  /** Names of calls; none: every call to the runtime. */
  readonly calls: readonly string[];
  readonly fault: Fault;
  /** Only so many; absent: all. */
  readonly times?: number;
  /** Only for so long; absent: to the end. */
  readonly for?: number;
  /** Probability for each call. */
  readonly share: number;
}

export interface Bound {
  readonly atLeast: number;
  readonly atMost: number;
}

export type Expectation = Claim & {
  /** Absent: at the end. */
  readonly at?: number;
  readonly position: Position;
};

export type Claim =
  | {
      readonly kind: 'pod';
      readonly pod: string;
      readonly namespace?: string;
      readonly exists?: boolean;
      readonly phase?: string;
      readonly ready?: boolean;
      readonly restarts?: Bound;
    }
  | {
      readonly kind: 'container';
      readonly pod: string;
      readonly namespace?: string;
      readonly container: string;
      readonly ready?: boolean;
      readonly restarts?: Bound;
      readonly state?: 'waiting' | 'running' | 'terminated';
      readonly reason?: string;
      readonly exitCode?: number;
    }
  | { readonly kind: 'problem'; readonly text: string; readonly times: Bound }
  | ({ readonly kind: 'event'; readonly reason: string; readonly times: Bound } & Whose)
  | ({ readonly kind: 'call'; readonly call: string; readonly times: Bound } & Pick<Whose, 'pod' | 'namespace'>);
