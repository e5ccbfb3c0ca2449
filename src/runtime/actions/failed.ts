import type { ObservedPod } from '../../model/observed.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { PodOutcome, PodReport, PodWork } from '../../streams/workers/pod-work.ts';

/** The world did not do as it was told: one failure more in a row, and another try `next` milliseconds from now. */
export function failed(
  work: PodWork,
  memory: PodMemory,
  error: unknown,
  next: number,
  observed?: ObservedPod,
): PodReport {
  const outcome: PodOutcome = { kind: 'failed', uid: work.uid, work, error, next, ...(observed ? { observed } : {}) };
  return { kind: 'outcome', uid: work.uid, outcome, memory: { ...memory, failures: memory.failures + 1 } };
}
