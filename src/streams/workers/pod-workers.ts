import { defer, tap, type Observable } from 'rxjs';
import { NO_MEMORY, type PodMemory } from '../../model/pod-memory.ts';
import type { PodUid } from '../../model/pod.ts';
import { serializeByKey } from '../../operators/serialize-by-key.ts';
import type { PodReport, PodWork } from './pod-work.ts';

export interface PodActions {
  /**
   * Drives one pod one step. Emits notes while it goes on and one outcome at its end; never errors.
   * Unsubscribing cancels every call in flight.
   */
  readonly perform: (work: PodWork, memory: PodMemory) => Observable<PodReport>;
}

/**
 * Runs each pod's work in order, one at a time, newest intent first.
 *
 * ```text
 * work$      abc--t--k---------     a, b, c: sync; t: end in 30 s; k: end in 2 s
 * perform    ------(x|)
 * report$    --------------k---     t cancels a and takes the place of c; k cancels t
 * ```
 *
 * A pod's memory lives from its first work to the end of its clean-up; `kept` is what an earlier run of the agent
 * remembered. Never errors.
 */
export function podWorkers(
  work$: Observable<PodWork>,
  { perform }: PodActions,
  kept: ReadonlyMap<PodUid, PodMemory> = new Map(),
): Observable<PodReport> {
  return defer(() => {
    const memories = new Map(kept);

    function remember(report: PodReport): void {
      if (report.kind !== 'outcome') return;
      if (report.outcome.kind === 'cleanedUp') memories.delete(report.uid);
      else if (report.memory) memories.set(report.uid, report.memory);
    }

    return work$.pipe(
      serializeByKey({
        key: ({ uid }: PodWork) => uid,
        work: (work) => perform(work, memories.get(work.uid) ?? NO_MEMORY).pipe(tap(remember)),
        fold: strongest,
        preempts: (arrival, running) => strength(arrival) > strength(running),
        recover: (error, work): PodReport => ({
          kind: 'outcome',
          uid: work.uid,
          outcome: { kind: 'failed', uid: work.uid, work, error, next: DEFECT_RETRY },
        }),
      }),
    );
  });
}

/** `perform` never errors; should it all the same, that pod is tried again and no other one notices. Milliseconds. */
const DEFECT_RETRY = 10_000;

/** A pod never moves back a phase, and its grace period only ever shrinks. */
function strongest(waiting: PodWork, arrival: PodWork): PodWork {
  return strength(arrival) >= strength(waiting) ? arrival : waiting;
}

function strength(work: PodWork): number {
  switch (work.kind) {
    case 'sync':
    case 'prepare':
      return 0;
    case 'terminate':
      return 1 + 1 / (1 + work.grace);
    case 'cleanUp':
      return 3;
  }
}
