import type { PodStatus, PodUid } from '../pod.ts';

/** What workloads are told of one of their pods. */
export interface PodSight {
  /** `kind/namespace/name` of the workload. */
  readonly owner: string;
  readonly status: PodStatus;
  /** It is looked after, so that its status says how it is now. */
  readonly isUnderWay: boolean;
  /** By its restart policy nothing of it runs again. */
  readonly isFinished: boolean;
}

export type PodSights = ReadonlyMap<PodUid, PodSight>;

/** Since when a pod is ready, in milliseconds since 1970; `undefined` where it is not. */
export function readySince({ status }: PodSight): number | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : undefined;
}

/** How often the containers of a pod have started again. */
export function restartsOf({ status }: PodSight): number {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].reduce(
    (sum, { restartCount }) => sum + restartCount,
    0,
  );
}
