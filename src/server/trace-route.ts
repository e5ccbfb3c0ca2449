import { take } from 'rxjs';
import type { TraceEvent } from '../streams/trace/trace-event.ts';
import type { TraceLog } from '../streams/trace/trace-log.ts';
import type { Route } from './route.ts';
import { send } from './send.ts';
import { streamLines } from './stream-lines.ts';

/**
 * `/rxlet/trace`: one event per line, oldest first: those that are kept, and with `?follow` each one after them.
 * `?pod=namespace/name` leaves only those of one pod. Nothing waits for a slow reader, and nothing is kept for it: it
 * reads from the ring, and what the ring has not any more is a line `{"kind":"gap","lost":n}`.
 */
export function traceRoute({ count$, after }: Pick<TraceLog, 'count$' | 'after'>): Route {
  return {
    path: '/rxlet/trace',
    access: 'local',
    answer: ({ response, query }) => {
      const pod = query.get('pod') ?? undefined;
      if (pod !== undefined && !/^[^/]+\/[^/]+$/.test(pod))
        return send(response, { status: 400, text: 'pod is namespace/name' });
      const lasts = query.has('follow') && query.get('follow') !== 'false';
      return streamLines(response, lasts ? count$ : count$.pipe(take(1)), (now, known) => {
        const events = known === undefined ? withoutGap(after(0, now)) : after(known, now);
        return pod === undefined ? events : events.filter((event) => isOf(event, pod));
      });
    },
  };
}

/** Whoever comes has missed nothing of what he asked for. */
function withoutGap(events: readonly TraceEvent[]): readonly TraceEvent[] {
  return events[0]?.kind === 'gap' ? events.slice(1) : events;
}

function isOf(event: TraceEvent, name: string): boolean {
  if (event.kind === 'gap') return true;
  if (event.kind === 'problem') return event.name === name;
  return 'pod' in event && `${event.pod.namespace}/${event.pod.name}` === name;
}
