import { Option, type Command as Commander } from 'commander';
import type { ClientCommand, PsFormat, ValidateOptions } from './command.ts';

/** Where the agent listens unless it is told otherwise. */
export const SOCKET = '/run/rxlet/rxlet.sock';

type Then = (command: ClientCommand) => void;

/** Adds every command but those that run the agent. */
export function addClientCommands(program: Commander, then: Then): void {
  addPs(program, then);
  addValidate(program, then);
}

function addPs(program: Commander, then: Then): void {
  program
    .command('ps')
    .description('show the pods of the agent that runs on this machine')
    .helpOption('-h, --help', 'show this help')
    .option('-w, --watch', 'stay and follow every change')
    .addOption(new Option('-o, --output <format>', 'wide, json or name').choices(['wide', 'json', 'name']))
    .option('--socket <path>', 'unix socket of the agent', SOCKET)
    .action((given: { readonly watch?: boolean; readonly output?: PsFormat; readonly socket: string }) => {
      then({
        kind: 'ps',
        options: { watch: given.watch ?? false, format: given.output ?? 'table', socket: given.socket },
      });
    });
}

function addValidate(program: Commander, then: Then): void {
  program
    .command('validate')
    .description('check manifests as the agent would; nothing has to run for that')
    .helpOption('-h, --help', 'show this help')
    .argument('<path...>', 'files and folders of manifests; - is standard input')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nEnds with 0 when all is good, 1 when there are problems, 2 when nothing was checked.')
    .action((paths: readonly string[], { output }: { readonly output: ValidateOptions['format'] }) => {
      then({ kind: 'validate', options: { paths, format: output } });
    });
}
