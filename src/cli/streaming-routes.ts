import { defer, forkJoin, switchMap, take, type Observable } from 'rxjs';
import { logRoutes } from '../server/log-routes.ts';
import { streamRoutes } from '../server/stream-routes.ts';
import { streaming, type Streaming } from '../runtime/streaming.ts';
import type { Route } from '../server/route.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { NodeView } from '../streams/view/node-view.ts';

export interface StreamingConfig {
  readonly view$: Observable<NodeView>;
  /** Emits the runtime once it has answered. */
  readonly cri$: Observable<Cri>;
}

/** The routes by which bytes flow: logs of containers, and connections to what runs in them. */
export function streamingRoutes({ view$, cri$ }: StreamingConfig): readonly Route[] {
  function withRuntime<T>(act: (runtime: Streaming) => Observable<T>): Observable<T> {
    return cri$.pipe(
      take(1),
      switchMap((cri) => act(streaming(cri))),
    );
  }
  const logs = logRoutes({
    view$,
    openLog: (containerId, options, ended) =>
      forkJoin([cri$.pipe(take(1)), defer(() => import('../runtime/logs/container-log.ts'))]).pipe(
        switchMap(([cri, { containerLog }]) => containerLog(cri, containerId, options, ended)),
      ),
    whenWritten: (containerId) =>
      forkJoin([cri$.pipe(take(1)), defer(() => import('../runtime/logs/when-written.ts'))]).pipe(
        switchMap(([cri, logs]) => logs.whenWritten(cri, containerId)),
      ),
  });
  const streams = streamRoutes({
    view$,
    exec: (...request) => withRuntime((runtime) => runtime.exec(...request)),
    attach: (...request) => withRuntime((runtime) => runtime.attach(...request)),
    portForward: (...request) => withRuntime((runtime) => runtime.portForward(...request)),
    run: (...request) => withRuntime((runtime) => runtime.run(...request)),
  });
  return [...logs, ...streams];
}
