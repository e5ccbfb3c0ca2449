import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** Everything `rxlet run` is told: the kubelet's configuration and what only this process needs. */
export interface RunConfig {
  readonly config: KubeletConfiguration;
  /** Lower-case host name, or what `--hostname-override` says. */
  readonly nodeName: string;
  /** What `--node-ip` says: none, one, or one of each family. */
  readonly nodeIps: readonly string[];
  /** What `--node-labels` says; the node gives itself some more. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Programs that know the registries' credentials; absent without any. */
  readonly credentialProviders: CredentialProviders | undefined;
  /** Files of PEM for https URLs of manifests: who is trusted, and who the node is. */
  readonly manifestUrlTls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Folder for everything rxlet keeps: pods' directories, checkpoints. */
  readonly rootDir: string;
  /** Unix socket of the local API. */
  readonly socket: string;
  /** Whether pods end with the agent. The kubelet leaves them running, and so does rxlet unless asked. */
  readonly stopPodsOnExit: boolean;
  /**
   * What a pod does whose manifest changes: run on until the new version can start, or end at once (the kubelet's
   * way). A manifest may say otherwise by the annotation `rxlet.dev/update`.
   */
  readonly update: 'prepare' | 'immediate';
  /** File that takes a recording of what the agent hears and decides; absent: nothing is recorded. */
  readonly record?: string;
  /** 0 shows errors, warnings and news; 4 and more shows every step. */
  readonly verbosity: number;
  /** Sentences for the log: what was accepted and has no effect. */
  readonly warnings: readonly string[];
}

export interface CredentialProviders {
  /** File of kind CredentialProviderConfig. */
  readonly config: string;
  /** Folder with the programs. */
  readonly binDir: string;
}
