import { catchError, defer, forkJoin, map, mergeMap, of, share, take, throwError, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { PodBook } from '../../streams/book/pod-book.ts';
import { exposed } from '../metrics/metrics-routes.ts';
import type { Route } from '../route.ts';
import { send, type Answer } from '../send.ts';
import { collect, type Collected, type StatsPorts } from './collect.ts';
import { cadvisorFailed, cadvisorFamilies } from './cadvisor-families.ts';
import type { CollectedVolumes, VolumeLook } from './collect-volumes.ts';
import { cpuRates } from './cpu-rates.ts';
import { resourceFamilies, scrapeErrors } from './resource-families.ts';
import { summaryOf, type SummaryOptions } from './summary.ts';

export interface StatsConfig {
  readonly nodeName: string;
  /** Absent until the runtime has answered; emits the newest at once. */
  readonly ports$: Observable<StatsPorts | undefined>;
  readonly book$: Observable<PodBook>;
  readonly volumes: VolumeLook;
}

/** `/stats/summary`, `/metrics/cadvisor` and `/metrics/resource`. Whoever asks at the same time shares one look. */
export function statsRoutes({ nodeName, ports$, book$, volumes }: StatsConfig): readonly Route[] {
  const rates = cpuRates();
  const ground$ = ports$.pipe(
    take(1),
    mergeMap((ports) =>
      ports ? of(ports) : throwError(() => new Error('the container runtime has not answered yet')),
    ),
    mergeMap((ports) =>
      book$.pipe(
        take(1),
        map((book) => ({ ports, book })),
      ),
    ),
  );
  const collected$ = ground$.pipe(
    mergeMap(({ ports, book }) => collect(ports, book)),
    share(),
  );
  const volumes$ = ground$.pipe(
    mergeMap(({ ports, book }) => volumes(ports, book, false)),
    share(),
  );
  return [
    {
      path: '/stats/summary',
      access: 'node',
      answer: ({ response, query }) => {
        const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
        return forkJoin({
          collected: collected$,
          volumes: onlyCpuAndMemory ? of<CollectedVolumes>(new Map()) : volumes$,
        }).pipe(
          map(({ collected, volumes: seen }): Answer => {
            const options: SummaryOptions = { nodeName, onlyCpuAndMemory, rates, volumes: seen, self: ownUsage() };
            return { status: 200, json: summaryOf(collected, options) };
          }),
          catchError((error: unknown) => of<Answer>({ status: 500, text: messageOf(error) })),
          mergeMap((answer) => send(response, answer)),
        );
      },
    },
    {
      path: '/metrics/cadvisor',
      access: 'node',
      answer: ({ response }) =>
        collected$.pipe(
          map((collected) => cadvisorFamilies(collected)),
          catchError(() => of(cadvisorFailed())),
          mergeMap((families) => defer(() => send(response, exposed(families)))),
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
