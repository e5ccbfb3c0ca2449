import type { Problem } from '../desired.ts';
import { keyOf, type LocalObject } from '../objects/local-object.ts';
import type { Pod } from '../pod.ts';
import type { PodSights } from './pod-sight.ts';
import { rollOut, type Slot } from './roll-out.ts';
import { runJob, type JobRecord } from './run-job.ts';
import type { Job } from './workload.ts';

/** What is remembered of every workload, over restarts of the agent too: plain JSON, by `kind/namespace/name`. */
export interface WorkloadMemory {
  readonly version: 1;
  readonly slots: Readonly<Record<string, readonly Slot[]>>;
  readonly jobs: Readonly<Record<string, JobRecord>>;
}

export const NO_WORKLOADS: WorkloadMemory = { version: 1, slots: {}, jobs: {} };

export interface Expansion {
  readonly memory: WorkloadMemory;
  readonly pods: readonly Pod[];
  /** Jobs that have failed. */
  readonly problems: readonly Problem[];
  /** When to expand again though nothing has changed; milliseconds since 1970. */
  readonly wakeAt?: number;
}

/** The pods that all workloads want at this moment. What is no workload any more is forgotten. */
export function expandWorkloads(
  before: WorkloadMemory,
  objects: readonly LocalObject[],
  sights: PodSights,
  now: number,
): Expansion {
  const slots: Record<string, readonly Slot[]> = {};
  const jobs: Record<string, JobRecord> = {};
  const pods: Pod[] = [];
  const problems: Problem[] = [];
  const wakes: number[] = [];
  for (const object of objects) {
    const key = keyOf(object);
    if (object.kind === 'Job') {
      const step = runJob(object, before.jobs[key], sights, now);
      jobs[key] = step.record;
      pods.push(...step.pods);
      if (step.record.finish?.condition === 'Failed') problems.push(failure(object, step.record));
      if (step.wakeAt !== undefined) wakes.push(step.wakeAt);
    } else if (object.kind === 'Deployment' || object.kind === 'DaemonSet') {
      const rollout = rollOut(object, before.slots[key] ?? [], sights, now);
      slots[key] = rollout.slots;
      pods.push(...rollout.slots.map(({ pod }) => pod));
      if (rollout.wakeAt !== undefined) wakes.push(rollout.wakeAt);
    }
  }
  return {
    memory: { version: 1, slots, jobs },
    pods,
    problems,
    ...(wakes.length > 0 && { wakeAt: Math.min(...wakes) }),
  };
}

function failure(job: Job, { finish, failed }: JobRecord): Problem {
  const { source, origin } = job.origin;
  const { namespace, name } = job.metadata;
  const why =
    finish?.reason === 'DeadlineExceeded'
      ? `it was active for longer than ${job.activeDeadlineSeconds ?? 0} s`
      : `${failed} of its pods have failed, and its backoffLimit is ${job.backoffLimit}`;
  const message = `the Job ${namespace}/${name} has failed (${finish?.reason ?? ''}): ${why}; change its template or take the file away and put it back to run it again`;
  return { source, origin, object: keyOf(job), message };
}
