import { concat, concatMap, of, throwError, type Observable } from 'rxjs';
import { describeProblem } from '../../model/desired.ts';
import type { ObjectKey } from '../../model/objects/local-object.ts';
import { CliError } from '../cli-error.ts';
import type { ValidateOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { count } from './count.ts';
import { findMistakes, type CheckedFile } from './find-mistakes.ts';

export interface ValidatePorts {
  readonly nodeName: string;
  /** Asked for only where it is to be read. */
  readonly stdin: () => NodeJS.ReadableStream;
}

/**
 * `rxlet validate`: emits text for standard output, one line per problem and per good file, and completes. Errors with
 * a {@link CliError} at its end where there are problems (exit code 1), or at once where there is nothing to check (2).
 */
export function validate({ paths, format }: ValidateOptions, { nodeName, stdin }: ValidatePorts): Observable<string> {
  return findMistakes(paths, nodeName, stdin).pipe(
    concatMap((files) => {
      const text$ = of(format === 'json' ? printJson(files) : files.map(printFile).join(''));
      const broken = files.filter(({ problems }) => problems.length > 0);
      if (broken.length === 0) return text$;
      const problems = broken.reduce((sum, file) => sum + file.problems.length, 0);
      const summary = `${count(problems, 'problem')} in ${broken.length} of ${count(files.length, 'file')}`;
      return concat(
        text$,
        throwError(() => new CliError(EXIT_CODES.findings, summary)),
      );
    }),
  );
}

function printFile({ path, pods, objects, problems }: CheckedFile): string {
  if (problems.length > 0) return problems.map((problem) => `${describeProblem(problem)}\n`).join('');
  if (pods.length + objects.length === 0) return `${path}: holds nothing\n`;
  const names = pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return `${path}: good: ${[...names, ...objects].join(', ')}\n`;
}

function objectOf(key: ObjectKey): Readonly<Record<string, string | undefined>> {
  const [kind, namespace, name] = key.split('/');
  return { kind, namespace, name };
}

function printJson(files: readonly CheckedFile[]): string {
  const answer = {
    valid: files.every(({ problems }) => problems.length === 0),
    files: files.map(({ path, pods, objects, problems }) => ({
      path,
      objects: objects.map(objectOf),
      pods: pods.map(({ metadata: { namespace, name } }) => ({ namespace, name })),
      problems: problems.map(({ position, field, pod, message }) => ({ ...position, field, pod, message })),
    })),
  };
  return `${JSON.stringify(answer, undefined, 2)}\n`;
}
