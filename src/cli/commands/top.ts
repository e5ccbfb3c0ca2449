import { map, type Observable } from 'rxjs';
import type { TopOptions } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { askAgent } from './ask-agent.ts';
import { renderTop, type StatsSummary } from './render-top.ts';

/**
 * `rxlet top`: emits what pods and containers use, from the agent's `/stats/summary`, and completes. Errors with a
 * {@link CliError} where no agent answers.
 */
export function top({ socket, namespace, format }: TopOptions, terminal: () => Terminal): Observable<string> {
  return askAgent<StatsSummary>(socket, '/stats/summary').pipe(
    map((summary): StatsSummary => ({
      ...summary,
      pods: (summary.pods ?? []).filter(({ podRef }) => namespace === undefined || podRef.namespace === namespace),
    })),
    map((summary) =>
      format === 'json'
        ? `${JSON.stringify(summary, undefined, 2)}\n`
        : `${renderTop(summary, terminal()).join('\n')}\n`,
    ),
  );
}
