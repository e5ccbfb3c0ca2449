import { CONFIG_SOURCE } from '../config-annotations.ts';
import type { Pod } from '../pod.ts';

/** From here on a priority is that of the system's own pods. */
const SYSTEM_CRITICAL = 2_000_000_000;

/** Whether the node itself is who wants the pod: nobody else would put it anywhere else. */
export function isStatic({ metadata }: Pod): boolean {
  return metadata.annotations[CONFIG_SOURCE] !== 'api';
}

/** Critical pods make room for themselves (kubelet, types.IsCriticalPod). */
export function isCritical(pod: Pod): boolean {
  return isStatic(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL;
}

/** Whether `other` may be ended to make room for `pod` (kubelet, types.Preemptable). */
export function isPreemptable(other: Pod, pod: Pod): boolean {
  if (isCritical(pod) && !isCritical(other)) return true;
  const [own, its] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && its !== undefined && own > its;
}
