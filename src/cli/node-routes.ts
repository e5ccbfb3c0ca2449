import { combineLatest, map, mergeMap, of, take, type Observable } from 'rxjs';
import type { RunConfig } from '../model/config/run-config.ts';
import { wireConfig } from '../model/config/wire-config.ts';
import type { AgentMetrics } from '../server/metrics/agent-metrics.ts';
import { metricsRoutes } from '../server/metrics/metrics-routes.ts';
import type { NodeState } from '../server/metrics/state-families.ts';
import type { Route } from '../server/route.ts';
import { runningPodsOf } from '../server/running-pods.ts';
import { send } from '../server/send.ts';
import type { StatsPorts } from '../server/stats/collect.ts';
import { volumeLook } from '../server/stats/collect-volumes.ts';
import { volumeFamilies } from '../server/stats/volume-families.ts';
import { statsRoutes } from '../server/stats/stats-routes.ts';
import { tell } from '../server/tell.ts';
import type { PodBook } from '../streams/book/pod-book.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { rxletVersion } from './version.ts';

export interface NodeSights {
  readonly view$: Observable<NodeView>;
  readonly book$: Observable<PodBook>;
  readonly metrics: AgentMetrics;
  /** `undefined` until the runtime has answered. */
  readonly stats$: Observable<StatsPorts | undefined>;
}

/** The kubelet's paths beside `/pods` and health: `/runningpods/`, `/configz`, `/metrics`, `/stats/summary` and so on. */
export function nodeRoutes(
  { config, nodeName }: RunConfig,
  { view$, book$, metrics, stats$ }: NodeSights,
): readonly Route[] {
  const version = rxletVersion();
  const state$ = combineLatest({ view: view$, book: book$ }).pipe(
    map(({ view, book }): NodeState => ({ view, book, nodeName, version })),
  );
  const looks = { volumes: volumeLook() };
  const claims$ = combineLatest([stats$, book$]).pipe(
    take(1),
    mergeMap(([ports, book]) =>
      ports ? looks.volumes(ports, book, true).pipe(map((found) => volumeFamilies(found, book))) : of([]),
    ),
  );
  return [
    {
      path: '/runningpods/',
      access: 'node',
      answer: tell(book$, (book) => ({ status: 200, json: runningPodsOf(book) })),
    },
    {
      path: '/configz',
      access: 'node',
      answer: ({ response }) => send(response, { status: 200, json: { kubeletconfig: wireConfig(config) } }),
    },
    ...metricsRoutes(metrics, state$, claims$),
    ...statsRoutes({ nodeName, ports$: stats$, book$, volumes: looks.volumes }),
  ];
}
