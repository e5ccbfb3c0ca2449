import { isSidecar } from './containers.ts';
import type { Container, PodSpec } from './pod.ts';
import { aggregateRequests } from './pod-resources.ts';
import { qosClassOf } from './qos.ts';
import { parseQuantity, wholeValue } from './quantity.ts';

const NODE_CRITICAL = 2_000_001_000;
const MOST = 1_000;
const LEAST_BURSTABLE = 3;

/** Who dies first when memory runs out (facts sheet 10.5; kubelet, qos.GetContainerOOMScoreAdjust). Bytes of memory. */
export function oomScoreAdj(spec: PodSpec, container: Container, memoryCapacity: number): number {
  if (isNodeCritical(spec)) return -997;
  switch (qosClassOf(spec)) {
    case 'Guaranteed':
      return -997;
    case 'BestEffort':
      return MOST;
    case 'Burstable': {
      const share = unallocated(spec);
      const scoreOf = (request: number): number => MOST - Math.floor((MOST * (request + share)) / memoryCapacity);
      const own = scoreOf(memoryRequest(container));
      // A sidecar must not die before those it serves.
      const score = isSidecar(container)
        ? Math.min(own, scoreOf(Math.min(...spec.containers.map(memoryRequest))))
        : own;
      return Math.min(MOST - 1, Math.max(LEAST_BURSTABLE, score));
    }
  }
}

/** Of what the pod as a whole asks for, what its containers leave over, to each of them alike. */
function unallocated(spec: PodSpec): number {
  const ofPod = bytes(spec.resources?.requests?.['memory']);
  if (ofPod === 0) return 0;
  const rest = ofPod - bytes(aggregateRequests(spec)['memory']);
  return Math.trunc(rest / (spec.containers.length + (spec.initContainers?.length ?? 0)));
}

function memoryRequest({ resources }: Container): number {
  return bytes(resources?.requests?.['memory']);
}

function bytes(text: string | undefined): number {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? wholeValue(quantity) : 0;
}

/** By its priority, or by the name of the class where nobody resolved it to one. */
function isNodeCritical({ priority, priorityClassName }: PodSpec): boolean {
  return (priority ?? 0) >= NODE_CRITICAL || priorityClassName === 'system-node-critical';
}
