import type { Pod } from '../pod.ts';
import { podOfWorkload } from './pod-of-workload.ts';
import { restartsOf, type PodSight, type PodSights } from './pod-sight.ts';
import type { Job } from './workload.ts';

/** How far a Job has come; outlives the agent, as plain JSON. Times are milliseconds since 1970. */
export interface JobRecord {
  /** Of the template: another one is another run. */
  readonly hash: string;
  readonly startedAt: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Since the last success; the next pod waits the longer for it. */
  readonly failuresInRow: number;
  readonly lastFailedAt?: number;
  /** The number in the name of the next pod. */
  readonly nextIndex: number;
  readonly active: readonly Pod[];
  /** Those that have ended last, kept for their logs. */
  readonly ended: readonly Pod[];
  readonly finish?: JobFinish;
}

export interface JobFinish {
  readonly at: number;
  readonly condition: 'Complete' | 'Failed';
  /** Kubernetes' reason of a Job that failed. */
  readonly reason?: 'BackoffLimitExceeded' | 'DeadlineExceeded';
}

export interface JobStep {
  readonly record: JobRecord;
  readonly pods: readonly Pod[];
  /** When to look again though nothing has changed; milliseconds since 1970. */
  readonly wakeAt?: number;
}

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 360_000;
const MOST_ENDED = 10;

/**
 * Takes a Job one step on (as the Job controller of Kubernetes): counts what has ended, starts what is missing, after a
 * failure with a delay of 10 s, 20 s, 40 s, ... 6 min, and finishes it: complete, over its back-off limit, or out of time.
 * What is finished stays finished until the template changes or the Job is removed. `now` is milliseconds since 1970.
 */
export function runJob(job: Job, before: JobRecord | undefined, sights: PodSights, now: number): JobStep {
  const counted = count(before?.hash === job.hash ? before : begin(job, now), sights);
  const restarts = counted.active.reduce((sum, { metadata }) => sum + restartsIn(sights.get(metadata.uid)), 0);
  const finish = counted.finish ?? finishOf(job, counted, restarts, now);
  if (finish) return finished(job, { ...counted, finish }, now);
  if (job.suspend) return { record: { ...counted, active: [], startedAt: now }, pods: counted.ended };

  const wanted = wantedPods(job, counted);
  const kept = counted.active.slice(0, wanted);
  const retryAt =
    counted.lastFailedAt === undefined || counted.failuresInRow === 0
      ? now
      : counted.lastFailedAt + Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (counted.failuresInRow - 1));
  const missing = retryAt > now ? 0 : wanted - kept.length;
  const begun = Array.from({ length: missing }, (_, n) =>
    podOfWorkload(job, `${job.metadata.name}-${counted.nextIndex + n}`),
  );
  const record = { ...counted, active: [...kept, ...begun], nextIndex: counted.nextIndex + begun.length };
  const wakes = [
    ...(wanted > kept.length && retryAt > now ? [retryAt] : []),
    ...(job.activeDeadlineSeconds === undefined ? [] : [record.startedAt + job.activeDeadlineSeconds * 1_000]),
  ];
  return {
    record,
    pods: [...record.ended, ...record.active],
    ...(wakes.length > 0 && { wakeAt: Math.min(...wakes) }),
  };
}

function begin({ hash }: Job, now: number): JobRecord {
  return { hash, startedAt: now, succeeded: 0, failed: 0, failuresInRow: 0, nextIndex: 0, active: [], ended: [] };
}

function count(record: JobRecord, sights: PodSights): JobRecord {
  const ended = record.active.filter(({ metadata }) => sights.get(metadata.uid)?.isFinished === true);
  if (ended.length === 0 || record.finish) return record;
  const good = ended.filter(({ metadata }) => sights.get(metadata.uid)?.status.phase === 'Succeeded').length;
  const bad = ended.length - good;
  const times = ended.flatMap(({ metadata }) => endOf(sights.get(metadata.uid)) ?? []);
  return {
    ...record,
    succeeded: record.succeeded + good,
    failed: record.failed + bad,
    failuresInRow: good > 0 ? 0 : record.failuresInRow + bad,
    ...(bad > 0 && times.length > 0 && { lastFailedAt: Math.max(...times) }),
    active: record.active.filter((pod) => !ended.includes(pod)),
    ended: [...record.ended, ...ended].slice(-MOST_ENDED),
  };
}

function endOf(sight: PodSight | undefined): number | undefined {
  const ends = [...(sight?.status.initContainerStatuses ?? []), ...(sight?.status.containerStatuses ?? [])]
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
    .filter((at) => !Number.isNaN(at));
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function restartsIn(sight: PodSight | undefined): number {
  return sight ? restartsOf(sight) : 0;
}

function finishOf(job: Job, record: JobRecord, restarts: number, now: number): JobFinish | undefined {
  const { completions, backoffLimit, activeDeadlineSeconds, suspend } = job;
  const isComplete =
    completions === undefined ? record.succeeded > 0 && record.active.length === 0 : record.succeeded >= completions;
  if (isComplete) return { at: now, condition: 'Complete' };
  if (record.failed + restarts > backoffLimit) return { at: now, condition: 'Failed', reason: 'BackoffLimitExceeded' };
  if (!suspend && activeDeadlineSeconds !== undefined && now >= record.startedAt + activeDeadlineSeconds * 1_000)
    return { at: now, condition: 'Failed', reason: 'DeadlineExceeded' };
  return undefined;
}

function wantedPods({ completions, parallelism }: Job, { succeeded, active }: JobRecord): number {
  // Once one worker of a queue has found it empty, no other is begun.
  if (completions === undefined) return succeeded > 0 ? Math.min(parallelism, active.length) : parallelism;
  return Math.min(parallelism, completions - succeeded);
}

function finished({ ttlSecondsAfterFinished }: Job, record: JobRecord, now: number): JobStep {
  const until = (record.finish?.at ?? now) + (ttlSecondsAfterFinished ?? Infinity) * 1_000;
  const ended = until <= now ? [] : record.ended;
  return {
    record: { ...record, active: [], ended },
    pods: ended,
    ...(Number.isFinite(until) && until > now && { wakeAt: until }),
  };
}
