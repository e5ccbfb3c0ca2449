import { defer, switchMap, type Observable } from 'rxjs';
import type { StreamCommand } from './command.ts';
import type { Standard } from './commands/exec.ts';

/**
 * Does what a command asks for by which bytes flow: emits text for people, and writes the bytes itself. Errors with a
 * {@link CliError}.
 */
export function streamClient(command: StreamCommand, standard: Standard): Observable<string> {
  switch (command.kind) {
    case 'logs':
      return defer(() => import('./commands/logs.ts')).pipe(switchMap(({ logs }) => logs(command.options, standard)));
    case 'exec':
      return defer(() => import('./commands/exec.ts')).pipe(switchMap(({ exec }) => exec(command.options, standard)));
    case 'portForward':
      return defer(() => import('./commands/port-forward.ts')).pipe(
        switchMap(({ portForward }) => portForward(command.options, (text) => standard.stderr.write(text))),
      );
  }
}
