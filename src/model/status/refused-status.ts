import type { Refusal } from '../admission/admission-node.ts';
import { deepEqual } from '../deep-equal.ts';
import type { Pod, PodStatus } from '../pod.ts';
import { qosClassOf } from '../qos.ts';
import { rfc3339 } from '../rfc3339.ts';
import type { Verdict } from './status-facts.ts';

/**
 * The status of a pod that the node does not take (facts sheet 4): nothing of it has ever begun. `now` is milliseconds
 * since 1970. Equal facts give the very same object.
 */
export function refusedStatus(
  { metadata, spec }: Pod,
  previous: PodStatus | undefined,
  { reason, message }: Refusal,
  now: number,
): PodStatus {
  const status: PodStatus = {
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    phase: 'Failed',
    reason,
    message: `${REJECTED}${message}`,
    startTime: (previous && isRefusedStatus(previous) ? previous.startTime : undefined) ?? rfc3339(now),
    qosClass: qosClassOf(spec),
  };
  return previous && deepEqual(previous, status) ? previous : status;
}

/** Whether a status says nothing about the pod but that there was no place for it, so that another try forgets it. */
export function isRefusedStatus({ phase, reason, message }: PodStatus): boolean {
  return phase === 'Failed' && (reason === PREEMPTED.reason || message?.startsWith(REJECTED) === true);
}

const REJECTED = 'Pod was rejected: ';

/** What becomes of a pod that is ended so that a critical one fits. */
export const PREEMPTED: Refusal & Verdict = {
  phase: 'Failed',
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};
