import type { Probe, ProbeKind, ProbeResult } from './probe.ts';

/** How a probe of one container instance has gone so far. */
export interface Tally {
  /** The result that holds; it changes only when enough answers in a row say so. */
  readonly result: ProbeResult;
  /** The last answer, and how many in a row were like it. */
  readonly last: ProbeResult;
  readonly row: number;
}

/** Where a probe of a new container begins, unless it is known from before (facts sheet 18). */
export const INITIAL_RESULTS: Readonly<Record<ProbeKind, ProbeResult>> = {
  startup: 'unknown',
  liveness: 'success',
  readiness: 'failure',
};

export function newTally(result: ProbeResult): Tally {
  return { result, last: 'unknown', row: 0 };
}

/** Counts one answer. Thresholds are numbers of answers in a row. */
export function count(
  { result, last, row }: Tally,
  answer: 'success' | 'failure',
  { successThreshold = 1, failureThreshold = 3 }: Pick<Probe, 'successThreshold' | 'failureThreshold'>,
): Tally {
  const length = answer === last ? row + 1 : 1;
  const isReached = length >= (answer === 'success' ? successThreshold : failureThreshold);
  return { result: isReached ? answer : result, last: answer, row: length };
}

/** Whether nothing is asked any more until the container is another: it is to be killed, or it has started. */
export function isOnHold(kind: ProbeKind, result: ProbeResult): boolean {
  switch (kind) {
    case 'startup':
      return result !== 'unknown';
    case 'liveness':
      return result === 'failure';
    case 'readiness':
      return false;
  }
}
