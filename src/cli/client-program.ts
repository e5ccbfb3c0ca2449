import { Argument, InvalidArgumentError, Option, type Command as Commander } from 'commander';
import { parseDuration } from '../model/config/parse-duration.ts';
import { POD_VERBS, type PodVerb } from '../model/pod-command.ts';
import type { AgentOptions, ClientCommand, PsFormat, PsOptions, ValidateOptions } from './command.ts';

/** Where the agent listens unless it is told otherwise. */
export const SOCKET = '/run/rxlet/rxlet.sock';

/** Where the state is unless it is told otherwise. */
export const ROOT_DIR = '/var/lib/rxlet';

type Then = (command: ClientCommand) => void;

/** Adds every command but those that run the agent. */
export function addClientCommands(program: Commander, then: Then): void {
  addPs(program, then);
  addGet(program, then);
  addDescribe(program, then);
  addEvents(program, then);
  addProblems(program, then);
  addTrace(program, then);
  addPodCommands(program, then);
  addPlan(program, then);
  addTop(program, then);
  addCompletion(program, then);
  addVolumes(program, then);
  addValidate(program, then);
  addReplay(program, then);
}

function addPs(program: Commander, then: Then): void {
  withOutput(
    withAgent(program.command('ps').description('show the pods of the agent that runs on this machine')),
    FORMATS,
  )
    .argument('[pod...]', 'only these')
    .option('-w, --watch', 'stay and follow every change')
    .action((names: readonly string[], given: ListFlags) => {
      then({ kind: 'ps', options: psOptions(names, given) });
    });
}

/** As people who know kubectl ask. */
function addGet(program: Commander, then: Then): void {
  withOutput(withAgent(program.command('get').description('the same as kubectl get: pods or events')), FORMATS)
    .argument('<kind>', 'pods (pod, po) or events (ev)', kindOf)
    .argument('[name...]', 'only these')
    .option('-w, --watch', 'stay and follow every change')
    .action((kind: 'pods' | 'events', names: readonly string[], given: ListFlags) => {
      then(
        kind === 'pods'
          ? { kind: 'ps', options: psOptions(names, given) }
          : { kind: 'events', options: { ...psOptions([], given), name: names[0] } },
      );
    });
}

function addDescribe(program: Commander, then: Then): void {
  withAgent(program.command('describe').description('everything about pods: states, restarts, volumes, events'))
    .argument('[pod...]', 'names, as rxlet ps shows them or as the manifest has them; none: all')
    .addHelpText('after', '\nrxlet describe web, describe pod web and describe pod/web are the same.')
    .action((names: readonly string[], given: AgentFlags) => {
      const isKind = names.length === 1 && /^(?:pods?|po)$/.test(names[0] ?? '');
      then({ kind: 'describe', options: { ...agentOptions(given), names: isKind ? [] : withoutKind(names) } });
    });
}

function addEvents(program: Commander, then: Then): void {
  withOutput(
    withAgent(program.command('events').description('what happened to the pods lately, oldest first')),
    FORMATS,
  )
    .option('-w, --watch', 'stay and tell each event as it happens')
    .option('--for <pod>', 'only those of one pod')
    .action((given: ListFlags & { readonly for?: string }) => {
      then({ kind: 'events', options: { ...psOptions([], given), name: given.for } });
    });
}

function addProblems(program: Commander, then: Then): void {
  program
    .command('problems')
    .description('what is wrong in the manifests of the agent')
    .helpOption('-h, --help', 'show this help')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .option('--socket <path>', 'unix socket of the agent', SOCKET)
    .addHelpText('after', '\nEnds with 0 when there are none, 1 when there are some.')
    .action(({ output, socket }: { readonly output: 'text' | 'json'; readonly socket: string }) => {
      then({ kind: 'problems', options: { socket, format: output } });
    });
}

function addTrace(program: Commander, then: Then): void {
  withAgent(program.command('trace').description('what the agent hears, decides and does'))
    .option('-f, --follow', 'stay and tell each thing as it happens')
    .option('--pod <pod>', 'only what is about one pod')
    .option('--marbles', 'draw the last seconds of every stream; on a terminal live')
    .option('--last <seconds>', 'how much of the past the marbles show', secondsOf, 20)
    .addOption(
      new Option('-o, --output <format>', 'text or json, one event per line').choices(['text', 'json']).default('text'),
    )
    .action((given: TraceFlags) => {
      const { follow = false, marbles = false, output: format, last, pod: name } = given;
      then({ kind: 'trace', options: { ...agentOptions(given), follow, marbles, format, last, name } });
    });
}

interface TraceFlags extends AgentFlags {
  readonly follow?: boolean;
  readonly pod?: string;
  readonly marbles?: boolean;
  readonly last: number;
  readonly output: 'text' | 'json';
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 3_600)) throw new InvalidArgumentError('It is a number from 1 to 3600.');
  return seconds;
}

function addPodCommands(program: Commander, then: Then): void {
  for (const verb of POD_VERBS) {
    withAgent(program.command(verb).description(VERBS[verb]))
      .argument('<pod...>', 'names, as rxlet ps shows them or as the manifest has them')
      .action((names: readonly string[], given: AgentFlags) => {
        then({ kind: 'commandPods', options: { ...agentOptions(given), verb, names: withoutKind(names) } });
      });
  }
}

const VERBS: Readonly<Record<PodVerb, string>> = {
  stop: 'end pods and keep them ended until they are started or their manifests change',
  start: 'start pods that were stopped by hand',
  restart: 'end pods, and begin them anew: new sandbox, empty emptyDirs, counters at 0',
};

/** `pod web` means `web`. */
function withoutKind(names: readonly string[]): readonly string[] {
  return /^(?:pods?|po)$/.test(names[0] ?? '') && names.length > 1 ? names.slice(1) : names;
}

const FORMATS = ['wide', 'json', 'yaml', 'name'] as const satisfies readonly PsFormat[];

interface AgentFlags {
  readonly socket: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

interface ListFlags extends AgentFlags {
  readonly watch?: boolean;
  readonly output?: PsFormat;
}

/** What every command has that asks the agent about pods. */
export function withAgent(command: Commander): Commander {
  return command
    .helpOption('-h, --help', 'show this help')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .option('-A, --all-namespaces', 'pods of all namespaces, which is the default')
    .option('--socket <path>', 'unix socket of the agent', SOCKET);
}

/** What {@link withAgent} reads. */
export function agentOptions({ socket, namespace, allNamespaces }: AgentFlags): AgentOptions {
  return { socket, namespace: allNamespaces === true ? undefined : namespace };
}

function withOutput(command: Commander, formats: readonly string[]): Commander {
  return command.addOption(
    new Option('-o, --output <format>', `${formats.slice(0, -1).join(', ')} or ${formats.at(-1) ?? ''}`).choices(
      formats,
    ),
  );
}

function psOptions(names: readonly string[], given: ListFlags): PsOptions {
  return { ...agentOptions(given), names, watch: given.watch ?? false, format: given.output ?? 'table' };
}

function kindOf(text: string): 'pods' | 'events' {
  if (/^(?:pods?|po)$/.test(text)) return 'pods';
  if (/^(?:events?|ev)$/.test(text)) return 'events';
  throw new InvalidArgumentError('There are pods and events.');
}

function addPlan(program: Commander, then: Then): void {
  program
    .command('plan')
    .description('what would start, restart and stop with these manifests; touches nothing')
    .helpOption('-h, --help', 'show this help')
    .argument('<path>', 'folder of manifests, in the place of the one that the agent watches')
    .option('--empty', 'compare with a node on which nothing runs; no agent is asked')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .option('--socket <path>', 'unix socket of the agent', SOCKET)
    .addHelpText('after', '\nEnds with 0 when nothing would change, 1 when something would, else with more.')
    .action((path: string, given: PlanFlags) => {
      const { socket, output, empty = false } = given;
      then({ kind: 'plan', options: { path, socket, empty, format: output } });
    });
}

function addTop(program: Commander, then: Then): void {
  withAgent(program.command('top').description('what pods and containers use of CPU and memory'))
    .argument('[kind]', 'pods, as kubectl wants to hear it')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action((_kind: string | undefined, given: AgentFlags & { readonly output: 'text' | 'json' }) => {
      then({ kind: 'top', options: { ...agentOptions(given), format: given.output } });
    });
}

interface PlanFlags {
  readonly socket: string;
  readonly output: 'text' | 'json';
  readonly empty?: boolean;
}

function addCompletion(program: Commander, then: Then): void {
  program
    .command('completion')
    .description('a script that completes commands and pods with Tab')
    .helpOption('-h, --help', 'show this help')
    .addArgument(new Argument('<shell>', 'bash or zsh').choices(['bash', 'zsh']))
    .addHelpText('after', '\nbash: source <(rxlet completion bash)\nzsh:  source <(rxlet completion zsh)')
    .action((shell: 'bash' | 'zsh') => {
      then({ kind: 'completion', shell });
    });
}

function addVolumes(program: Commander, then: Then): void {
  const volumes = program
    .command('volumes')
    .description('the folders of persistent volume claims: list them, remove them')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false);
  const withFlags = (command: Commander): Commander =>
    command
      .helpOption('-h, --help', 'show this help')
      .option('--socket <path>', 'unix socket of the agent', SOCKET)
      .option('--root-dir <folder>', 'where the state of rxlet is when no agent runs', ROOT_DIR);
  interface Flags {
    readonly socket: string;
    readonly rootDir: string;
  }
  withFlags(volumes.command('ls').description('show them, their sizes and who uses them')).action((given: Flags) => {
    then({ kind: 'volumes', options: { verb: 'ls', names: [], ...given } });
  });
  withFlags(volumes.command('rm').description('remove them with all that is in them; refused while a pod has them'))
    .argument('<claim...>', 'claim, or namespace/claim')
    .action((names: readonly string[], given: Flags) => {
      then({ kind: 'volumes', options: { verb: 'rm', names, ...given } });
    });
}

function addValidate(program: Commander, then: Then): void {
  program
    .command('validate')
    .description('check manifests as the agent would; nothing has to run for that')
    .helpOption('-h, --help', 'show this help')
    .argument('<path...>', 'files and folders of manifests; - is standard input')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nEnds with 0 when all is good, 1 with problems, 2 when nothing was checked.')
    .action((paths: readonly string[], { output }: { readonly output: ValidateOptions['format'] }) => {
      then({ kind: 'validate', options: { paths, format: output } });
    });
}

function addReplay(program: Commander, then: Then): void {
  program
    .command('replay')
    .description('decide again what an agent decided while rxlet run --record')
    .helpOption('-h, --help', 'show this help')
    .argument('<file>', 'the recording')
    .option('--until <duration>', 'only its beginning, as 10m', durationOf)
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nEnds with 0 when all is decided as it was, 1 when not, 2 when it cannot be read.')
    .action((file: string, { output, until }: ReplayFlags) => {
      then({ kind: 'replay', options: { file, format: output, until } });
    });
}

interface ReplayFlags {
  readonly output: 'text' | 'json';
  readonly until?: number;
}

function durationOf(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined || duration < 0) throw new InvalidArgumentError('It is a duration, as 90s, 10m or 1h30m.');
  return duration;
}
