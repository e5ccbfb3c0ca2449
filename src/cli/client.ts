import { defer, of, switchMap, type Observable } from 'rxjs';
import type { ClientCommand } from './command.ts';
import { commandPods } from './commands/command-pods.ts';
import { completion } from './commands/completion.ts';
import { describe } from './commands/describe.ts';
import { events } from './commands/events.ts';
import { problems } from './commands/problems.ts';
import { ps } from './commands/ps.ts';
import { top } from './commands/top.ts';
import { nodeNameOf } from './resolve-run-options.ts';
import type { Terminal } from './terminal.ts';

export interface ClientPorts {
  /** Asked before each drawing, because its size may change. */
  readonly terminal: () => Terminal;
  /** Asked for only where it is to be read. */
  readonly stdin: () => NodeJS.ReadableStream;
}

/**
 * Does what a command asks for that looks at an agent or at manifests: emits text for standard output. Errors with a
 * {@link CliError} where it cannot, or where the exit code is to say more than the text.
 */
export function client(command: ClientCommand, { terminal, stdin }: ClientPorts): Observable<string> {
  switch (command.kind) {
    case 'ps':
      return ps(command.options, terminal);
    case 'describe':
      return describe(command.options, terminal);
    case 'events':
      return events(command.options, terminal);
    case 'problems':
      return problems(command.options);
    case 'trace':
      return defer(() => import('./commands/trace.ts')).pipe(
        switchMap(({ trace }) => trace(command.options, terminal)),
      );
    case 'commandPods':
      return commandPods(command.options);
    case 'plan':
      return defer(() => import('./commands/plan.ts')).pipe(
        switchMap(({ plan }) => plan(command.options, nodeNameOf())),
      );
    case 'completion':
      return of(completion(command.shell));
    case 'top':
      return top(command.options, terminal);
    case 'volumes':
      return defer(() => import('./commands/volumes.ts')).pipe(switchMap(({ volumes }) => volumes(command.options)));
    case 'replay':
      return defer(() => import('./commands/replay.ts')).pipe(switchMap(({ replay }) => replay(command.options)));
    case 'validate':
      return defer(() => import('./commands/validate.ts')).pipe(
        switchMap(({ validate }) => validate(command.options, { nodeName: nodeNameOf(), stdin })),
      );
    case 'simulate':
      return defer(() => import('./commands/simulate.ts')).pipe(
        switchMap(({ simulate }) => simulate(command.options, { terminal, stdin })),
      );
  }
}
