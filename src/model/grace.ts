import { DELETION_GRACE, TERMINATION_GRACE } from './cri/labels.ts';
import type { ObservedPod } from './observed.ts';
import type { Pod } from './pod.ts';

const DEFAULT_GRACE = 30;

/** Seconds that the containers of a pod get to end (facts sheet 6: never below one). */
export function graceOf({ spec, metadata }: Pod): number {
  return Math.max(1, metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE);
}

/** The same of a pod whose manifest is gone, from what its containers were given (facts sheet 10.2). */
export function graceOfObserved({ containers }: ObservedPod): number {
  const text = containers
    .map(({ annotations }) => annotations[DELETION_GRACE] ?? annotations[TERMINATION_GRACE])
    .find((value) => value !== undefined);
  const seconds = Number(text ?? DEFAULT_GRACE);
  return Number.isFinite(seconds) ? Math.max(1, seconds) : DEFAULT_GRACE;
}
