import { describeProblem, type Problem } from '../../model/desired.ts';
import type { Tracer } from '../ports/tracer.ts';

/** Tells which problems of the manifests are new, and which are mended. */
export function traceProblems(before: readonly Problem[], now: readonly Problem[], trace: Tracer): void {
  const former = byText(before);
  const current = byText(now);
  for (const [message, name] of current) if (!former.has(message)) tell(message, name, false);
  for (const [message, name] of former) if (!current.has(message)) tell(message, name, true);

  function tell(message: string, name: string | undefined, mended: boolean): void {
    trace({ kind: 'problem', message, mended, ...(name === undefined ? {} : { name }) });
  }
}

function byText(problems: readonly Problem[]): ReadonlyMap<string, string | undefined> {
  return new Map(problems.map((problem) => [describeProblem(problem), problem.pod]));
}
