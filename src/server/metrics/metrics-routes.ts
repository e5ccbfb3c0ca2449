import { forkJoin, map, take, type Observable } from 'rxjs';
import type { Route } from '../route.ts';
import type { Answer } from '../send.ts';
import { tell } from '../tell.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import { exposition, EXPOSITION_TYPE, type Family } from './family.ts';
import { processFamilies } from './process-families.ts';
import { stateFamilies, type NodeState } from './state-families.ts';

/** `/metrics` and `/metrics/probes`, in the Prometheus text format. `volumes$` emits once what is in the folders of claims. */
export function metricsRoutes(
  metrics: AgentMetrics,
  state$: Observable<NodeState>,
  volumes$: Observable<readonly Family[]>,
): readonly Route[] {
  return [
    {
      path: '/metrics',
      access: 'node',
      answer: tell(
        forkJoin([state$.pipe(take(1)), volumes$]).pipe(
          map(([state, volumes]) => [...metrics.families(), ...stateFamilies(state), ...volumes, ...processFamilies()]),
        ),
        exposed,
      ),
    },
    {
      path: '/metrics/probes',
      access: 'node',
      answer: tell(state$.pipe(map(() => metrics.probeFamilies())), exposed),
    },
  ];
}

/** The answer that tells these families. */
export function exposed(families: readonly Family[]): Answer {
  return { status: 200, text: exposition(families), type: EXPOSITION_TYPE };
}
