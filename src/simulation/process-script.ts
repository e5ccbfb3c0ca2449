import type { ContainerConfig } from '../model/cri/api.ts';

/** What a behaviour is told about the container whose process starts. */
export interface StartingContainer {
  readonly id: string;
  readonly name: string;
  /** How many of this name came before it in its pod. */
  readonly attempt: number;
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly config: ContainerConfig;
}

interface ExecAnswer {
  readonly exitCode: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Milliseconds until the command has ended; 0 unless told. */
  readonly after?: number;
}

/** What a process writes. */
export interface Print {
  /** One line or more; a newline at its end may be left out. */
  readonly text: string;
  readonly stream?: 'stdout' | 'stderr';
}

/** What a process takes while it runs. */
export interface ProcessUse {
  /** Cores. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** What the process of one container does, from its start. The empty script runs for ever and ends politely. */
export interface ProcessScript {
  /** Ends by itself, `after` milliseconds from its start. */
  readonly exits?: { readonly after: number; readonly code: number; readonly reason?: string };
  /** How it takes SIGTERM: ends `after` milliseconds later, or not at all. Unless told: 10 ms, code 0. */
  readonly onTerm?: { readonly after: number; readonly code: number } | 'ignored';
  /** The runtime cannot start it, and says this. */
  readonly startError?: string;
  /** What it leaves in its termination message file when it ends. */
  readonly terminationMessage?: string;
  /** What it writes to its log, `after` milliseconds from its start, while it runs. */
  readonly prints?: readonly (Print & { readonly after: number })[];
  /** Unless told: a thousandth of a core and a MiB. */
  readonly uses?: ProcessUse;
  /** Answers a command that is run beside it; unless told, every command succeeds at once and is silent. */
  readonly exec?: (command: readonly string[]) => ExecAnswer;
}

export type ContainerBehaviour = (container: StartingContainer) => ProcessScript;
