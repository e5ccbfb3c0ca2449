import { defer, EMPTY, filter, map, merge, take, type Subject } from 'rxjs';
import type { PodCommand } from '../model/pod-command.ts';
import type { CommandPod } from '../server/pod-command-routes.ts';
import type { HeldSources } from '../sources/hold-pods.ts';

/** Hands commands to the sources that hold pods back, and tells what came of each. */
export function hearCommands({ reply$ }: Pick<HeldSources, 'reply$'>, commands: Subject<PodCommand>): CommandPod {
  return (command) =>
    merge(
      reply$.pipe(
        filter((answer) => answer.command === command),
        map(({ reply }) => reply),
      ),
      defer(() => {
        commands.next(command);
        return EMPTY;
      }),
    ).pipe(take(1));
}
