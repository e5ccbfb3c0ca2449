import type { Observable } from 'rxjs';
import type { EventLog, PodEvent } from '../streams/events/event-log.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { healthRoutes } from './health-routes.ts';
import { podListOf } from './pod-list.ts';
import type { Route } from './route.ts';
import { streamLines } from './stream-lines.ts';
import { tell } from './tell.ts';

/** What there is to tell; each emits its newest state at once to whoever subscribes, then each change. */
export interface Sights {
  readonly view$: Observable<NodeView>;
  /** The last events. */
  readonly events$: Observable<EventLog>;
}

/**
 * | path              | answer                                                                          |
 * | ----------------- | ------------------------------------------------------------------------------- |
 * | `/healthz`, ...   | see {@link healthRoutes}                                                        |
 * | `/pods`           | a v1 PodList, as the kubelet's                                                  |
 * | `/rxlet/view`     | the {@link NodeView} of this moment                                             |
 * | `/rxlet/watch`    | one NodeView per line: now, and after each change; a slow reader misses some    |
 * | `/rxlet/problems` | the list of what is wrong in the manifests                                      |
 * | `/rxlet/events`   | what happened to the pods lately, oldest first, equal events counted            |
 * | `/rxlet/events/watch` | one event per line: all of now, and each again when it happens again        |
 */
export function viewRoutes({ view$, events$ }: Sights): readonly Route[] {
  return [
    ...healthRoutes(view$),
    { path: '/pods', access: 'node', answer: tell(view$, (view) => ({ status: 200, json: podListOf(view) })) },
    { path: '/rxlet/view', access: 'local', answer: tell(view$, (view) => ({ status: 200, json: view })) },
    { path: '/rxlet/watch', access: 'local', answer: ({ response }) => streamLines(response, view$, (view) => [view]) },
    {
      path: '/rxlet/events/watch',
      access: 'local',
      answer: ({ response }) => streamLines(response, events$, newsOf),
    },
    {
      path: '/rxlet/problems',
      access: 'local',
      answer: tell(view$, ({ problems }) => ({ status: 200, json: problems })),
    },
    {
      path: '/rxlet/events',
      access: 'local',
      answer: tell(events$, ({ events }) => ({ status: 200, json: [...events.values()] })),
    },
  ];
}

/** The events that somebody who knew the log as it was has not heard of. */
function newsOf(now: EventLog, known: EventLog | undefined): readonly PodEvent[] {
  return [...now.events].flatMap(([number, event]) => (known?.events.get(number) === event ? [] : [event]));
}
