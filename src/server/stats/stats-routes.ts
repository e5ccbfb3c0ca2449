import { catchError, defer, map, mergeMap, of, share, take, throwError, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { PodBook } from '../../streams/book/pod-book.ts';
import { exposed } from '../metrics/metrics-routes.ts';
import type { Route } from '../route.ts';
import { send, type Answer } from '../send.ts';
import { collect, type Collected, type StatsPorts } from './collect.ts';
import { cpuRates } from './cpu-rates.ts';
import { resourceFamilies, scrapeErrors } from './resource-families.ts';
import { summaryOf, type SummaryOptions } from './summary.ts';

export interface StatsConfig {
  readonly nodeName: string;
  /** Absent until the runtime has answered; emits the newest at once. */
  readonly ports$: Observable<StatsPorts | undefined>;
  readonly book$: Observable<PodBook>;
}

/** `/stats/summary` and `/metrics/resource`. Whoever asks at the same time shares one look. */
export function statsRoutes({ nodeName, ports$, book$ }: StatsConfig): readonly Route[] {
  const rates = cpuRates();
  const collected$ = ports$.pipe(
    take(1),
    mergeMap((ports) =>
      ports ? of(ports) : throwError(() => new Error('the container runtime has not answered yet')),
    ),
    mergeMap((ports) =>
      book$.pipe(
        take(1),
        mergeMap((book) => collect(ports, book)),
      ),
    ),
    share(),
  );
  return [
    {
      path: '/stats/summary',
      access: 'node',
      answer: ({ response, query }) =>
        collected$.pipe(
          map((collected): Answer => {
            const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
            const options: SummaryOptions = { nodeName, onlyCpuAndMemory, rates, self: ownUsage() };
            return { status: 200, json: summaryOf(collected, options) };
          }),
          catchError((error: unknown) => of<Answer>({ status: 500, text: messageOf(error) })),
          mergeMap((answer) => send(response, answer)),
        ),
    },
    {
      path: '/metrics/resource',
      access: 'node',
      answer: ({ response }) =>
        collected$.pipe(
          map((collected: Collected) => resourceFamilies(collected)),
          catchError(() => of(scrapeErrors(true))),
          mergeMap((families) => defer(() => send(response, exposed(families)))),
        ),
    },
  ];
}

function ownUsage(): SummaryOptions['self'] {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  const { minorPageFault, majorPageFault } = process.resourceUsage();
  return {
    cpuNanoseconds: 1_000 * (user + system),
    memory: { usage: rss, workingSet: rss, rss },
    pageFaults: minorPageFault + majorPageFault,
    majorPageFaults: majorPageFault,
    startedAt: performance.timeOrigin,
  };
}
