import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { map, type Observable } from 'rxjs';
import { resolveConfig } from '../model/config/resolve-config.ts';
import type { RunConfig } from '../model/config/run-config.ts';
import type { ConfigProblem } from '../model/config/config-layer.ts';
import { describeProblem } from '../model/desired.ts';
import { CliError } from './cli-error.ts';
import type { RunOptions } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { readConfigFiles } from './read-config-files.ts';

/**
 * Emits everything `rxlet run` needs to know, once, then completes. Errors with a {@link CliError} that names every
 * mistake in the configuration, one per line.
 */
export function resolveRunOptions(options: RunOptions): Observable<RunConfig> {
  return readConfigFiles(options.config, options.configDir).pipe(
    map(({ layers, problems, skipped }) => {
      const resolved = resolveConfig([...layers, ...options.flags]);
      const wrong = [...problems, ...(resolved.kind === 'refused' ? resolved.problems : [])];
      if (resolved.kind === 'refused' || wrong.length) throw refusal(wrong);

      const { staticPodPath, staticPodURL } = resolved.config;
      return {
        config: { ...resolved.config, staticPodPath: staticPodPath === '' ? '' : resolve(staticPodPath) },
        nodeName: nodeNameOf(options.hostnameOverride),
        nodeIps: options.nodeIps,
        nodeLabels: options.nodeLabels,
        credentialProviders: credentialProviders(options),
        manifestUrlTls: manifestUrlTls(options),
        rootDir: resolve(options.rootDir),
        socket: resolve(options.socket),
        stopPodsOnExit: options.stopPodsOnExit,
        update: options.update,
        ...(options.record !== undefined && { record: resolve(options.record) }),
        verbosity: options.verbosity,
        warnings: [
          ...skipped.map((file) => `${file}: skipped, the name of a drop-in must end in .conf`),
          ...resolved.warnings,
          ...(staticPodPath === '' && staticPodURL.trim() === '' ? [NOTHING_TO_RUN] : []),
        ],
      };
    }),
  );
}

function credentialProviders({
  imageCredentialProviderConfig: config,
  imageCredentialProviderBinDir: binDir,
}: RunOptions): RunConfig['credentialProviders'] {
  if (config === undefined && binDir === undefined) return undefined;
  if (config === undefined || binDir === undefined)
    throw new CliError(
      EXIT_CODES.usage,
      '--image-credential-provider-config and --image-credential-provider-bin-dir go together',
      'Give both, or neither.',
    );
  return { config: resolve(config), binDir: resolve(binDir) };
}

function manifestUrlTls({
  manifestUrlCaFile: ca,
  manifestUrlCertFile: cert,
  manifestUrlKeyFile: key,
}: RunOptions): RunConfig['manifestUrlTls'] {
  if ((cert === undefined) !== (key === undefined))
    throw new CliError(
      EXIT_CODES.usage,
      '--manifest-url-cert-file and --manifest-url-key-file go together',
      'Give both, or neither.',
    );
  return {
    ...(ca !== undefined && { ca: resolve(ca) }),
    ...(cert !== undefined && { cert: resolve(cert) }),
    ...(key !== undefined && { key: resolve(key) }),
  };
}

const NOTHING_TO_RUN =
  'no folder and no URL of manifests was given, so no pod will run: use --pod-manifest-path or --manifest-url, or staticPodPath or staticPodURL';

function refusal(problems: readonly ConfigProblem[]): CliError {
  const lines = problems.map((problem) => `  ${describeProblem(problem)}`);
  return new CliError(EXIT_CODES.usage, `the configuration is not valid:\n${lines.join('\n')}`);
}

/** As the kubelet makes it: the override or the host name, trimmed and in lower case. */
export function nodeNameOf(override?: string): string {
  const name = (override ?? hostname()).trim().toLowerCase();
  if (name.length <= 253 && NODE_NAME.test(name)) return name;
  throw new CliError(
    EXIT_CODES.usage,
    `${JSON.stringify(name)} cannot be the name of a node: it may hold letters, digits, "-" and "."`,
    'Give a name with --hostname-override.',
  );
}

const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
