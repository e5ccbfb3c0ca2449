import { defer, finalize, type Observable } from 'rxjs';
import type { Asked, Route } from '../route.ts';
import { gauge, type Family, type Labels } from './family.ts';
import { counter, histogram } from './tallies.ts';

/** Counts requests and how long they take. What no route is there for is not counted. */
export interface HttpMetrics {
  /** The same routes, counted; `serverType` tells listeners apart. */
  readonly metered: (routes: readonly Route[], serverType: 'readwrite' | 'local') => readonly Route[];
  readonly families: () => readonly Family[];
}

/** Seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function httpMetrics(): HttpMetrics {
  const requests = counter('kubelet_http_requests_total', 'Requests that were heard, by method, path and listener.');
  const times = histogram('kubelet_http_requests_duration_seconds', 'Seconds that answers took.', BUCKETS);
  const inflight = counter('kubelet_http_inflight_requests', 'Requests that are being answered now.');

  function metered<T extends Asked>(
    handle: (asked: T) => Observable<never>,
    about: Labels,
  ): (asked: T) => Observable<never> {
    return (asked) =>
      defer(() => {
        const labels = { method: asked.request.method ?? '', ...about };
        const begun = performance.now();
        requests.add(labels);
        inflight.add(labels);
        return handle(asked).pipe(
          finalize(() => {
            inflight.add(labels, -1);
            times.observe(labels, (performance.now() - begun) / 1_000);
          }),
        );
      });
  }

  return {
    metered: (routes, serverType) =>
      routes.map((route) => {
        const path = route.path.replace(/\/:.*$/, '').replace(/^\/|\/$/g, '');
        const about = { path, server_type: serverType, long_running: String(LONG_RUNNING.has(path)) };
        return {
          ...route,
          answer: metered(route.answer, about),
          ...(route.upgrade ? { upgrade: metered(route.upgrade, about) } : {}),
        };
      }),
    families: () => [
      requests.family(),
      times.family(),
      gauge('kubelet_http_inflight_requests', inflight.family().help, inflight.family().samples),
    ],
  };
}

/** What goes on for as long as the client wants, by its path. */
const LONG_RUNNING: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'portForward',
  'run',
  'containerLogs',
  'rxlet/watch',
  'rxlet/events/watch',
  'rxlet/trace',
]);
