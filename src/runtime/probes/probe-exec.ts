import { Buffer } from 'node:buffer';
import { catchError, defer, map, of, throwError, timeout, type Observable } from 'rxjs';
import { RuntimeError } from '../../model/errors.ts';
import { expand } from '../../model/expand.ts';
import type { Container } from '../../model/pod.ts';
import { formatGoDuration } from '../../model/restart/backoff.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import type { ProbeAnswer, ProbeTarget } from '../../streams/probes/probe.ts';
import { failure, LONGEST_OUTPUT, success } from './answers.ts';

/**
 * Runs a command in the container; exit code 0 is success. The runtime ends it after `limit` milliseconds, which is a
 * failure, and so is a runtime that does not: it is given up some seconds later. Errors when the command could not run.
 */
export function probeExec(
  cri: Pick<Cri, 'execSync'>,
  { container, containerId }: Pick<ProbeTarget, 'container' | 'containerId'>,
  command: readonly string[],
  limit: number,
): Observable<ProbeAnswer> {
  return defer(() => {
    const cmd = expandStatic(command, container);
    const tooLate = (): ProbeAnswer =>
      failure(`command timed out: ${JSON.stringify(cmd.join(' '))} timed out after ${formatGoDuration(limit)}`);

    return cri.execSync({ containerId, cmd, timeout: Math.ceil(limit / 1_000) }).pipe(
      timeout({ first: limit + PATIENCE, with: () => of(undefined) }),
      map((answer) => {
        if (!answer) return tooLate();
        const { stdout = NOTHING, stderr = NOTHING, exitCode = 0 } = answer;
        const output = outputOf(stdout, stderr);
        return exitCode === 0 ? success(output) : failure(output);
      }),
      catchError((error: unknown) =>
        error instanceof RuntimeError && error.kind === 'deadline' ? of(tooLate()) : throwError(() => error),
      ),
    );
  });
}

/** Milliseconds beyond its limit that a command, or a runtime under load, gets to come back with an answer. */
const PATIENCE = 10_000;
const NOTHING = new Uint8Array();

function outputOf(stdout: Uint8Array, stderr: Uint8Array): string {
  if (stdout.length === 0 && stderr.length === 0) return '';
  const all = Buffer.concat([stdout, stderr].map((part) => part.subarray(0, LONGEST_OUTPUT)));
  return all.subarray(0, LONGEST_OUTPUT).toString('utf8').trimEnd();
}

/** Only variables with a literal value are known here; the others are empty (kubelet, ExpandContainerCommandOnlyStatic). */
function expandStatic(command: readonly string[], { env = [] }: Container): readonly string[] {
  if (!command.some((part) => part.includes('$'))) return command;
  const values = new Map(env.map(({ name, value }) => [name, value ?? '']));
  return command.map((part) => expand(part, values));
}
