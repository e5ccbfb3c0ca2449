import type { ConfigLayer } from '../model/config/config-layer.ts';
import type { ExitCode } from './exit-codes.ts';

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | ClientCommand
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'error'; readonly exitCode: ExitCode; readonly message: string; readonly hint: string };

/** What looks at an agent, or at manifests, and says what it saw. */
export type ClientCommand =
  | { readonly kind: 'ps'; readonly options: PsOptions }
  | { readonly kind: 'validate'; readonly options: ValidateOptions };

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
  readonly stopPodsOnExit: boolean;
  readonly update: 'prepare' | 'immediate';
  readonly verbosity: number;
  /** Flags that set fields of the configuration, in the order of the help. */
  readonly flags: readonly ConfigLayer[];
}

export type PsFormat = 'table' | 'wide' | 'json' | 'name';

export interface PsOptions {
  readonly watch: boolean;
  readonly format: PsFormat;
  readonly socket: string;
}

export interface ValidateOptions {
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  readonly format: 'text' | 'json';
}
