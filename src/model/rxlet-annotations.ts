import { parseDuration } from './config/parse-duration.ts';
import type { PodMetadata } from './pod.ts';

/** What is to happen to the running pod when this manifest takes its place. */
const UPDATE = 'rxlet.dev/update';

/** The longest wait of the pod's crash-loop back-off, where it is not that of the node (a duration, `30s`). */
const MAX_CONTAINER_RESTART_PERIOD = 'rxlet.dev/max-container-restart-period';

/** `true`: containers start again when an object that they have variables from has changed. */
export const RESTART_ON_CONFIG_CHANGE = 'rxlet.dev/restart-on-config-change';

/** Of a pod that a workload made, `kind/namespace/name`; ours to give, so that no manifest may have it. */
export const OWNER = 'rxlet.dev/owner';

type Annotations = PodMetadata['annotations'];

/** `prepare`: the old pod runs on until all is at hand for the new one. `immediate`: it is ended at once. */
export type UpdateMode = 'prepare' | 'immediate';

/** What a pod asks for; nothing where it leaves that to the node. */
export function updateModeOf({ [UPDATE]: mode }: Annotations): UpdateMode | undefined {
  return mode === 'prepare' || mode === 'immediate' ? mode : undefined;
}

/** Milliseconds; nothing where the pod leaves it to the node. */
export function maxContainerRestartPeriodOf({ [MAX_CONTAINER_RESTART_PERIOD]: text }: Annotations): number | undefined {
  const period = text === undefined ? undefined : parseDuration(text);
  return period !== undefined && period >= LEAST_PERIOD && period <= LONGEST_PERIOD ? period : undefined;
}

/** Milliseconds; as of the kubelet's `crashLoopBackOff.maxContainerRestartPeriod`. */
const LEAST_PERIOD = 1_000;
const LONGEST_PERIOD = 300_000;

/** What is wrong with an annotation of ours, or nothing; a name that none of ours has is wrong too. */
export function annotationProblem(key: string, value: string): string | undefined {
  if (!key.startsWith('rxlet.dev/')) return undefined;
  switch (key) {
    case UPDATE:
      return updateModeOf({ [key]: value }) ? undefined : `${JSON.stringify(value)} must be one of prepare, immediate`;
    case MAX_CONTAINER_RESTART_PERIOD:
      return maxContainerRestartPeriodOf({ [key]: value }) === undefined
        ? `${JSON.stringify(value)} must be a duration from 1s to 300s`
        : undefined;
    case RESTART_ON_CONFIG_CHANGE:
      return value === 'true' || value === 'false' ? undefined : `${JSON.stringify(value)} must be "true" or "false"`;
    default:
      return `rxlet knows no such annotation; it knows ${UPDATE}, ${RESTART_ON_CONFIG_CHANGE} and ${MAX_CONTAINER_RESTART_PERIOD}`;
  }
}
