import { asyncScheduler, defer, mergeMap, scan, startWith, Subject, type Observable } from 'rxjs';
import type { Tracer } from '../ports/tracer.ts';
import type { TraceEvent, TraceFact } from './trace-event.ts';

/** What the agent did last. */
export interface TraceLog {
  readonly record: Tracer;
  /** How many events there have been, now and after each. Never completes. */
  readonly count$: Observable<number>;
  /** What happened after the first `count` events, up to the first `upTo`, oldest first; begins with a gap where that is not all kept. */
  readonly after: (count: number, upTo?: number) => readonly TraceEvent[];
  /** Every event that is still kept, then each as it happens. Never completes. */
  readonly trace$: Observable<TraceEvent>;
}

/**
 * Keeps the last `capacity` events in a ring.
 *
 * ```text
 * record     a-b-c-d-----e-      capacity 2
 * trace$     -------(cd)-e-      subscribed after d
 * ```
 *
 * Nothing is made per event but the fact itself, unless somebody listens. A reader is a number: one that is slow costs
 * no memory, and finds a gap of known size where the ring has gone on without it.
 */
export function traceLog(capacity: number): TraceLog {
  const facts: (TraceFact | undefined)[] = Array.from({ length: capacity }, () => undefined);
  const times = new Float64Array(capacity);
  const counts = new Subject<number>();
  let count = 0;

  function after(known: number, upTo = count): readonly TraceEvent[] {
    const oldest = Math.max(known, count - capacity);
    const events: TraceEvent[] = [];
    for (let seq = oldest + 1; seq <= upTo; seq++) {
      const slot = (seq - 1) % capacity;
      const fact = facts[slot];
      const at = times[slot] ?? 0;
      if (seq === oldest + 1 && oldest > known) events.push({ seq: oldest, at, kind: 'gap', lost: oldest - known });
      if (fact) events.push({ seq, at, ...fact });
    }
    return events;
  }

  const count$ = defer(() => counts.pipe(startWith(count)));

  return {
    record: (fact) => {
      const slot = count % capacity;
      facts[slot] = fact;
      times[slot] = asyncScheduler.now();
      count++;
      if (counts.observed) counts.next(count);
    },
    count$,
    after,
    trace$: defer(() => {
      const kept = Math.max(0, count - capacity);
      return count$.pipe(
        scan(({ now }: Reading, next): Reading => ({ known: now, now: next }), { known: kept, now: kept }),
        mergeMap(({ known, now }) => after(known, now)),
      );
    }),
  };
}

interface Reading {
  readonly known: number;
  readonly now: number;
}
