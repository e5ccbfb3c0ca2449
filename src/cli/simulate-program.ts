import { InvalidArgumentError, Option, type Command as Commander } from 'commander';
import { parseDuration } from '../model/config/parse-duration.ts';
import type { Command } from './command.ts';

/** Adds `rxlet simulate`. */
export function addSimulate(program: Commander, then: (command: Command) => void): void {
  const simulate = program
    .command('simulate')
    .description('run the agent on a simulated node, a day in seconds; touches nothing')
    .helpOption('-h, --help', 'show this help')
    .argument('[path...]', 'files and folders of manifests; - is standard input')
    .option('--script <file>', 'what happens meanwhile, and what is expected')
    .addOption(new Option('--for <duration>', 'how long, as 90s, 30m, 24h (default: 1h)').argParser(spanOf))
    .addOption(new Option('--seed <number>', 'equal seeds give equal runs (default: 1)').argParser(seedOf))
    .option('--config <file>', "the kubelet's KubeletConfiguration (YAML or JSON)")
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addOption(
      new Option('--serve <endpoint>', 'offer the runtime of the node at unix:///path instead, in real time')
        .argParser(socketOf)
        .conflicts(['for', 'config', 'output']),
    )
    .option('--state <file>', 'with --serve: begin with what is kept there, and keep it')
    .addHelpText(
      'after',
      '\nEnds with 0 when every expectation of the script is met, 1 when one is not, 2\nwhen nothing was simulated. Scripts are explained in docs/simulate.md.\n\nWith --serve it prints the endpoint when rxlet run can use it, by\n--container-runtime-endpoint, and ends with Ctrl-C.',
    )
    .action((paths: readonly string[], given: SimulateFlags) => {
      const { script, for: span, seed, config, output: format, serve, state } = given;
      if (serve !== undefined) {
        if (paths.length > 0) simulate.error('a served runtime has no manifests: they are given to rxlet run');
        then({ kind: 'serve', options: { serve, seed, state, script } });
        return;
      }
      if (paths.length === 0) simulate.error("missing required argument 'path'");
      if (state !== undefined) simulate.error('--state goes with --serve');
      then({ kind: 'simulate', options: { paths, script, span, seed, config, format } });
    });
}

interface SimulateFlags {
  readonly script?: string;
  readonly for?: number;
  readonly seed?: number;
  readonly config?: string;
  readonly output: 'text' | 'json';
  readonly serve?: string;
  readonly state?: string;
}

function socketOf(text: string): string {
  const path = text.replace(/^unix:(?:\/\/)?/, '');
  if (!path.startsWith('/')) throw new InvalidArgumentError('It looks like unix:///path.');
  return path;
}

/** Milliseconds that can be simulated at most; beyond, nanoseconds since the beginning are no whole numbers any more. */
const LONGEST = 90 * 24 * 3_600_000;

function spanOf(text: string): number {
  const span = parseDuration(text);
  if (span === undefined || span <= 0 || span > LONGEST)
    throw new InvalidArgumentError('It is a duration above 0 and up to 2160h, as 30m or 24h.');
  return span;
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number of at most 9 digits.');
  return seed;
}
