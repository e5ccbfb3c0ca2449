import { defer, forkJoin, switchMap, take, type Observable } from 'rxjs';
import { logRoutes } from '../server/log-routes.ts';
import type { Route } from '../server/route.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { NodeView } from '../streams/view/node-view.ts';

export interface StreamingConfig {
  readonly view$: Observable<NodeView>;
  /** Emits the runtime once it has answered. */
  readonly cri$: Observable<Cri>;
}

/** The routes by which bytes flow: logs of containers. What serves them is loaded when the first one asks. */
export function streamingRoutes({ view$, cri$ }: StreamingConfig): readonly Route[] {
  return logRoutes({
    view$,
    openLog: (containerId, options, ended) =>
      forkJoin([cri$.pipe(take(1)), defer(() => import('../runtime/logs/container-log.ts'))]).pipe(
        switchMap(([cri, { containerLog }]) => containerLog(cri, containerId, options, ended)),
      ),
  });
}
