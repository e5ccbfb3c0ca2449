import { InvalidArgumentError, Option, type Command as Commander } from 'commander';
import { parseDuration } from '../model/config/parse-duration.ts';
import type { ClientCommand } from './command.ts';

/** Adds `rxlet simulate`. */
export function addSimulate(program: Commander, then: (command: ClientCommand) => void): void {
  program
    .command('simulate')
    .description('run the agent on a simulated node, a day in seconds; touches nothing')
    .helpOption('-h, --help', 'show this help')
    .argument('<path...>', 'files and folders of manifests; - is standard input')
    .option('--script <file>', 'what happens meanwhile, and what is expected')
    .addOption(new Option('--for <duration>', 'how long, as 90s, 30m, 24h (default: 1h)').argParser(spanOf))
    .addOption(new Option('--seed <number>', 'equal seeds give equal runs (default: 1)').argParser(seedOf))
    .option('--config <file>', "the kubelet's KubeletConfiguration (YAML or JSON)")
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      '\nEnds with 0 when every expectation of the script is met, 1 when one is not, 2\nwhen nothing was simulated. Scripts are explained in docs/simulate.md.',
    )
    .action((paths: readonly string[], given: SimulateFlags) => {
      const { script, for: span, seed, config, output: format } = given;
      then({ kind: 'simulate', options: { paths, script, span, seed, config, format } });
    });
}

interface SimulateFlags {
  readonly script?: string;
  readonly for?: number;
  readonly seed?: number;
  readonly config?: string;
  readonly output: 'text' | 'json';
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
