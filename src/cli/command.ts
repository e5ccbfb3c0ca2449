import type { ConfigLayer } from '../model/config/config-layer.ts';
import type { PodVerb } from '../model/pod-command.ts';
import type { ExitCode } from './exit-codes.ts';

/** A simulated runtime on a socket. */
export interface ServeOptions {
  /** Path of the socket. */
  readonly serve: string;
  /** Absent: another one at each start. */
  readonly seed: number | undefined;
  /** File in which the runtime keeps what it has; absent: it begins empty. */
  readonly state: string | undefined;
  /** File that says what containers do and what goes wrong. */
  readonly script: string | undefined;
}

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | ClientCommand
  | StreamCommand
  | { readonly kind: 'serve'; readonly options: ServeOptions }
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'error'; readonly exitCode: ExitCode; readonly message: string; readonly hint: string };

/** What looks at an agent, or at manifests, and says what it saw. */
export type ClientCommand =
  | { readonly kind: 'ps'; readonly options: PsOptions }
  | { readonly kind: 'describe'; readonly options: DescribeOptions }
  | { readonly kind: 'events'; readonly options: EventsOptions }
  | { readonly kind: 'problems'; readonly options: ProblemsOptions }
  | { readonly kind: 'trace'; readonly options: TraceOptions }
  | { readonly kind: 'commandPods'; readonly options: CommandPodsOptions }
  | { readonly kind: 'plan'; readonly options: PlanOptions }
  | { readonly kind: 'completion'; readonly shell: 'bash' | 'zsh' }
  | { readonly kind: 'top'; readonly options: TopOptions }
  | { readonly kind: 'volumes'; readonly options: VolumesOptions }
  | { readonly kind: 'validate'; readonly options: ValidateOptions }
  | { readonly kind: 'simulate'; readonly options: SimulateOptions }
  | { readonly kind: 'replay'; readonly options: ReplayOptions };

/** What joins this terminal to a container. */
export type StreamCommand =
  | { readonly kind: 'logs'; readonly options: LogsOptions }
  /** Without a command it attaches to what runs already. */
  | { readonly kind: 'exec'; readonly options: ExecOptions }
  | { readonly kind: 'portForward'; readonly options: PortForwardOptions };

export interface RunOptions {
  readonly config: string | undefined;
  readonly configDir: string | undefined;
  readonly rootDir: string;
  readonly socket: string;
  readonly hostnameOverride: string | undefined;
  readonly nodeIps: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly imageCredentialProviderConfig: string | undefined;
  readonly imageCredentialProviderBinDir: string | undefined;
  readonly manifestUrlCaFile: string | undefined;
  readonly manifestUrlCertFile: string | undefined;
  readonly manifestUrlKeyFile: string | undefined;
  readonly stopPodsOnExit: boolean;
  readonly update: 'prepare' | 'immediate';
  readonly record: string | undefined;
  readonly verbosity: number;
  /** Flags that set fields of the configuration, in the order of the help. */
  readonly flags: readonly ConfigLayer[];
}

export type PsFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';

/** How to reach the agent, and whose pods are meant. */
export interface AgentOptions {
  readonly socket: string;
  /** Absent: all. */
  readonly namespace: string | undefined;
}

export interface PsOptions extends AgentOptions {
  readonly watch: boolean;
  readonly format: PsFormat;
  /** Pods to show; none: all. */
  readonly names: readonly string[];
}

export interface DescribeOptions extends AgentOptions {
  /** None: all. */
  readonly names: readonly string[];
}

export interface CommandPodsOptions extends AgentOptions {
  readonly verb: PodVerb;
  readonly names: readonly string[];
}

export interface EventsOptions extends AgentOptions {
  readonly watch: boolean;
  readonly format: PsFormat;
  /** The pod that they are of; absent: any. */
  readonly name: string | undefined;
}

export interface LogsOptions extends AgentOptions {
  readonly name: string;
  readonly container: string | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly allContainers: boolean;
  readonly prefix: boolean;
  readonly timestamps: boolean;
  readonly tail: number | undefined;
  /** Seconds. */
  readonly since: number | undefined;
  readonly sinceTime: string | undefined;
  readonly limitBytes: number | undefined;
}

export interface ExecOptions extends AgentOptions {
  readonly name: string;
  readonly container: string | undefined;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
}

export interface PortForwardOptions extends AgentOptions {
  readonly name: string;
  readonly address: string;
  /** `local` 0 is any free one. */
  readonly ports: readonly { readonly local: number; readonly remote: number }[];
}

export interface TraceOptions extends AgentOptions {
  readonly follow: boolean;
  readonly format: 'text' | 'json';
  /** The pod that it is about; absent: any. */
  readonly name: string | undefined;
  readonly marbles: boolean;
  /** Seconds that marbles show. */
  readonly last: number;
}

export interface ProblemsOptions {
  readonly socket: string;
  readonly format: 'text' | 'json';
}

export interface TopOptions extends AgentOptions {
  readonly format: 'text' | 'json';
}

export interface PlanOptions {
  readonly path: string;
  readonly socket: string;
  /** Compares with a node on which nothing runs, without asking an agent. */
  readonly empty: boolean;
  readonly format: 'text' | 'json';
}

export interface VolumesOptions {
  readonly verb: 'ls' | 'rm';
  /** Claims to remove, as `claim` or `namespace/claim`. */
  readonly names: readonly string[];
  readonly socket: string;
  /** Where the volumes are when no agent runs. */
  readonly rootDir: string;
}

export interface ReplayOptions {
  readonly file: string;
  readonly format: 'text' | 'json';
  /** Milliseconds of the recording that are replayed; absent: all. */
  readonly until: number | undefined;
}

export interface ValidateOptions {
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  readonly format: 'text' | 'json';
}

export interface SimulateOptions {
  /** Files and folders of manifests; `-` is standard input. */
  readonly paths: readonly string[];
  /** File that says what happens, and what is expected. */
  readonly script: string | undefined;
  /** Milliseconds; absent: as the script says. */
  readonly span: number | undefined;
  readonly seed: number | undefined;
  readonly config: string | undefined;
  readonly format: 'text' | 'json';
}
