import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { concat, concatMap, defer, EMPTY, forkJoin, map, of, throwError, type Observable } from 'rxjs';
import { CliError } from '../cli-error.ts';
import type { SimulateOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { resolveRunOptions } from '../resolve-run-options.ts';
import type { Outcome } from '../simulate/outcome.ts';
import { readScript } from '../simulate/read-script.ts';
import { renderOutcome } from '../simulate/render-outcome.ts';
import { simulateLife, type LifePlan } from '../simulate/simulate-life.ts';
import type { Terminal } from '../terminal.ts';
import { count } from './count.ts';
import { readManifests } from './read-manifests.ts';

export interface SimulatePorts {
  readonly terminal: () => Terminal;
  /** Asked for only where it is to be read. */
  readonly stdin: () => NodeJS.ReadableStream;
}

/** What nobody has said: milliseconds, and any seed is as good as another. */
const SPAN = 3_600_000;
const SEED = 1;

/** Runs are the same on every machine, so the node has no name of this one. */
const NODE = 'node';

/**
 * `rxlet simulate`: emits text for standard output and completes; touches nothing. Errors with a {@link CliError} at its
 * end where an expectation of the script is not met (exit code 1), or at once where manifests, script or configuration
 * cannot be read (2).
 */
export function simulate(options: SimulateOptions, { terminal, stdin }: SimulatePorts): Observable<string> {
  return defer(() => {
    allocateYoung();
    return simulationPlan(options, stdin);
  }).pipe(
    concatMap(simulateLife),
    concatMap((outcome) => {
      const lines = (): string => `${renderOutcome(outcome, terminal()).join('\n')}\n`;
      return concat(
        of(options.format === 'json' ? `${JSON.stringify(outcome, undefined, 2)}\n` : lines()),
        end(outcome),
      );
    }),
  );
}

/**
 * V8 puts objects among the old ones at once when many of their kind have lived long. Here that is a guess which fails:
 * most are for one call of the many of a simulated day, and each of them keeps alive what hangs on it until all of the
 * heap is collected, so that a fifth of what was allocated was copied, twice. Nothing but speed depends on it.
 */
function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Everything that a simulation is made of, by what stands on the command line. Emits once, and completes. */
export function simulationPlan(options: SimulateOptions, stdin: SimulatePorts['stdin']): Observable<LifePlan> {
  return defer(() => {
    const script = readScript(options.script);
    return forkJoin([readManifests(options.paths, stdin), resolveRunOptions(runOptions(options))]).pipe(
      map(([looks, run]): LifePlan => {
        const [first] = looks;
        const path = options.paths[0] ?? '';
        const folder = first?.isFolder === true ? path : dirname(path);
        return {
          run: { ...run, config: { ...run.config, staticPodPath: folder } },
          script,
          manifests: looks.flatMap(({ files }) => files),
          pathOf: (name) => join(folder, name),
          span: options.span ?? script.for ?? SPAN,
          seed: options.seed ?? script.seed ?? SEED,
        };
      }),
    );
  });
}

function runOptions({ config }: SimulateOptions): Parameters<typeof resolveRunOptions>[0] {
  return {
    config,
    configDir: undefined,
    rootDir: '/var/lib/rxlet',
    socket: '/run/rxlet/rxlet.sock',
    hostnameOverride: NODE,
    nodeIps: [],
    nodeLabels: {},
    imageCredentialProviderConfig: undefined,
    imageCredentialProviderBinDir: undefined,
    manifestUrlCaFile: undefined,
    manifestUrlCertFile: undefined,
    manifestUrlKeyFile: undefined,
    stopPodsOnExit: false,
    update: 'prepare',
    record: undefined,
    verbosity: 0,
    flags: [],
  };
}

function end({ expectations }: Outcome): Observable<never> {
  const unmet = expectations.filter(({ isMet }) => !isMet).length;
  if (unmet === 0) return EMPTY;
  const of = count(expectations.length, 'expectation');
  return throwError(() => new CliError(EXIT_CODES.findings, `${unmet} of ${of} not met`));
}
