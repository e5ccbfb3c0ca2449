import { concat, concatMap, of, throwError, type Observable } from 'rxjs';
import { describeProblem, type Problem } from '../../model/desired.ts';
import { CliError } from '../cli-error.ts';
import type { ProblemsOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { askAgent } from './ask-agent.ts';
import { count } from './count.ts';

/**
 * `rxlet problems`: emits text for standard output and completes. Errors with a {@link CliError} at its end where there
 * are problems (exit code 1), or where no agent answers.
 */
export function problems({ socket, format }: ProblemsOptions): Observable<string> {
  return askAgent<readonly Problem[]>(socket, '/rxlet/problems').pipe(
    concatMap((found) => {
      const text$ = of(format === 'json' ? `${JSON.stringify(found, undefined, 2)}\n` : lines(found));
      if (found.length === 0) return text$;
      return concat(
        text$,
        throwError(() => new CliError(EXIT_CODES.findings, count(found.length, 'problem'))),
      );
    }),
  );
}

function lines(found: readonly Problem[]): string {
  return found.length === 0 ? 'No problems.\n' : found.map((problem) => `${describeProblem(problem)}\n`).join('');
}
