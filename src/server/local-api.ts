import { mergeMap, of, type Observable } from 'rxjs';
import type { EventLog } from '../streams/events/event-log.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { answer, type Routes } from './answer.ts';
import { podListOf } from './pod-list.ts';
import { serveUnixSocket } from './serve-unix-socket.ts';

export interface LocalApiConfig {
  /** Path of the unix socket; its folder is made where it is missing. */
  readonly socket: string;
  /** Emits the newest view at once to whoever subscribes, then each change. */
  readonly view$: Observable<NodeView>;
  /** The last events; emits the newest state at once to whoever subscribes. */
  readonly events$: Observable<EventLog>;
}

/**
 * What rxlet tells about itself to root on the same machine, as HTTP over a unix socket.
 *
 * | path              | answer                                                                          |
 * | ----------------- | ------------------------------------------------------------------------------- |
 * | `/healthz`        | `ok`, or 500 with what is wrong                                                 |
 * | `/pods`           | a v1 PodList, as the kubelet's                                                  |
 * | `/rxlet/view`     | the {@link NodeView} of this moment                                             |
 * | `/rxlet/watch`    | one NodeView per line: now, and after each change; a slow reader misses some    |
 * | `/rxlet/problems` | the list of what is wrong in the manifests                                      |
 * | `/rxlet/events`   | what happened to the pods lately, oldest first, equal events counted            |
 *
 * Emits the path of the socket once it listens, then never completes. Errors only where it cannot listen: another
 * agent answers there, or the place is not to be written. No client can end it. Unsubscribing hangs up and removes
 * the socket.
 */
export function localApi({ socket, view$, events$ }: LocalApiConfig): Observable<string> {
  return serveUnixSocket(socket).pipe(
    mergeMap((event) =>
      event.kind === 'listening' ? of(event.socket) : answer(event.request, event.response, { view$, events$ }, ROUTES),
    ),
  );
}

const ROUTES: Routes = {
  '/healthz': ({ plegHealthy }) =>
    plegHealthy ? { status: 200, text: 'ok' } : { status: 500, text: 'the runtime has not been listed for too long' },
  '/pods': (view) => ({ status: 200, json: podListOf(view) }),
  '/rxlet/view': (view) => ({ status: 200, json: view }),
  '/rxlet/problems': ({ problems }) => ({ status: 200, json: problems }),
  '/rxlet/events': (_view, events) => ({ status: 200, json: [...events.values()] }),
};
