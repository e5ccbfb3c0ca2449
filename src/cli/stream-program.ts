import { InvalidArgumentError, type Command as Commander } from 'commander';
import { parseDuration } from '../model/config/parse-duration.ts';
import { agentOptions, withAgent } from './client-program.ts';
import type { PortForwardOptions, StreamCommand } from './command.ts';

type Then = (command: StreamCommand) => void;
type AgentFlags = Parameters<typeof agentOptions>[0];

/** Adds the commands by which bytes flow. */
export function addStreamCommands(program: Commander, then: Then): void {
  addLogs(program, then);
  addExec(program, then);
  addAttach(program, then);
  addPortForward(program, then);
}

function addLogs(program: Commander, then: Then): void {
  withAgent(program.command('logs').description('what a container has written'))
    .argument('<pod>', 'as rxlet ps shows it, or as the manifest has it')
    .argument('[container]', 'the same as -c')
    .option('-c, --container <name>', 'the first one where nothing is said')
    .option('-f, --follow', 'stay, and show what it writes')
    .option('-p, --previous', 'of the instance before this one')
    .option('--all-containers', 'of every container of the pod')
    .option('--prefix', 'name pod and container before each line')
    .option('--timestamps', 'tell when each line was written')
    .option('--tail <lines>', 'only so many from the end; -1: all', tail)
    .option('--since <time>', 'only what is not older: 10s, 5m, 1h', seconds)
    .option('--since-time <time>', 'only from then on: 2026-01-02T15:04:05Z')
    .option('--limit-bytes <count>', 'no more than so many bytes', whole)
    .action((name: string, second: string | undefined, given: LogFlags) => {
      const { since, sinceTime, limitBytes } = given;
      const tail = given.tail === -1 ? undefined : given.tail;
      const options = {
        ...agentOptions(given),
        name,
        container: given.container ?? second,
        follow: given.follow ?? false,
        previous: given.previous ?? false,
        allContainers: given.allContainers ?? false,
        prefix: given.prefix ?? false,
        timestamps: given.timestamps ?? false,
      };
      then({ kind: 'logs', options: { ...options, tail, since, sinceTime, limitBytes } });
    });
}

interface LogFlags extends AgentFlags {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly allContainers?: boolean;
  readonly prefix?: boolean;
  readonly timestamps?: boolean;
  readonly tail?: number;
  readonly since?: number;
  readonly sinceTime?: string;
  readonly limitBytes?: number;
}

interface ExecFlags extends AgentFlags {
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

function addExec(program: Commander, then: Then): void {
  withProcess(program.command('exec').description('run a command in a container; ends with its exit code'))
    .argument('<pod>', 'as rxlet ps shows it, or as the manifest has it')
    .argument('<command...>', 'the command, after --')
    .action((name: string, command: readonly string[], given: ExecFlags) => {
      then({ kind: 'exec', options: { ...execOptions(name, given), command } });
    });
}

function addAttach(program: Commander, then: Then): void {
  withProcess(program.command('attach').description('join the first process of a container'))
    .argument('<pod>', 'as rxlet ps shows it, or as the manifest has it')
    .action((name: string, given: ExecFlags) => {
      then({ kind: 'exec', options: { ...execOptions(name, given), command: [] } });
    });
}

function withProcess(command: Commander): Commander {
  return withAgent(command)
    .option('-c, --container <name>', 'the first one where nothing is said')
    .option('-i, --stdin', 'pass on standard input')
    .option('-t, --tty', 'standard input is a terminal');
}

function execOptions(
  name: string,
  { container, stdin, tty, ...agent }: ExecFlags,
): Omit<Extract<StreamCommand, { readonly kind: 'exec' }>['options'], 'command'> {
  return { ...agentOptions(agent), name, container, stdin: stdin ?? false, tty: tty ?? false };
}

function addPortForward(program: Commander, then: Then): void {
  withAgent(program.command('port-forward').description('reach ports of a pod from this machine'))
    .argument('<pod>', 'as rxlet ps shows it, or as the manifest has it')
    .argument('<port...>', 'LOCAL:REMOTE, PORT for the same on both sides, :REMOTE for a free one here', ports)
    .option('--address <ip>', 'where to listen', '127.0.0.1')
    .action((name: string, mapped: PortForwardOptions['ports'], given: AgentFlags & { readonly address: string }) => {
      then({ kind: 'portForward', options: { ...agentOptions(given), name, address: given.address, ports: mapped } });
    });
}

function ports(text: string, before: unknown): PortForwardOptions['ports'] {
  const [, local, remote = local] = /^(\d{0,5})(?::(\d{1,5}))?$/.exec(text) ?? [];
  const pair = { local: Number(local), remote: Number(remote) };
  if (local === undefined || pair.local > 65_535 || pair.remote < 1 || pair.remote > 65_535)
    throw new InvalidArgumentError('It must look like 8080:80, 8080 or :80.');
  return [...(Array.isArray(before) ? (before as PortForwardOptions['ports']) : []), pair];
}

/** -1 is how kubectl says that all are wanted. */
function tail(text: string): number {
  return text === '-1' ? -1 : whole(text);
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function seconds(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds <= 0)
    throw new InvalidArgumentError('It must look like 10s, 5m or 1h.');
  return Math.ceil(milliseconds / 1_000);
}
