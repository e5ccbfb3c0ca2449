import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import { runJob, type JobStep } from '../../../../src/model/workloads/run-job.ts';
import { aWorkload, ended, running } from './a-workload.ts';

const job = (spec = '', pod = '', image = 'busybox:1.35') => aWorkload('Job', { spec, pod, image });
const names = ({ pods }: Pick<JobStep, 'pods'>): readonly string[] => pods.map(({ metadata }) => metadata.name);

function last({ record }: JobStep): Pod {
  const pod = record.active.at(-1);
  if (!pod) throw new Error('no pod is active');
  return pod;
}

describe('runJob', () => {
  it('is complete when its pod has succeeded, for good', () => {
    const first = runJob(job(), undefined, new Map(), 0);
    expect(names(first)).toEqual(['web-0-n1']);
    expect(last(first).metadata.labels).toMatchObject({ 'batch.kubernetes.io/job-name': 'web' });
    const done = runJob(job(), first.record, new Map([ended(last(first), 'Succeeded', 5_000)]), 5_000);
    expect(done.record.finish).toEqual({ at: 5_000, condition: 'Complete' });
    expect(names(done)).toEqual(['web-0-n1']);
    expect(names(runJob(job(), done.record, new Map(), 999_000))).toEqual(['web-0-n1']);
  });

  it('runs as many pods at a time as parallelism says until completions have succeeded', () => {
    const spec = 'completions: 3\n  parallelism: 2';
    const first = runJob(job(spec), undefined, new Map(), 0);
    expect(names(first)).toEqual(['web-0-n1', 'web-1-n1']);
    const [one] = first.record.active;
    const second = runJob(job(spec), first.record, new Map(one ? [ended(one, 'Succeeded', 1_000)] : []), 1_000);
    expect(names(second)).toEqual(['web-0-n1', 'web-1-n1', 'web-2-n1']);
    const sights = new Map(second.record.active.map((pod) => ended(pod, 'Succeeded', 2_000)));
    expect(runJob(job(spec), second.record, sights, 2_000).record).toMatchObject({
      succeeded: 3,
      finish: { condition: 'Complete' },
    });
  });

  it('tries again 10, 20, 40 s after failures, until they are more than backoffLimit', () => {
    const spec = 'backoffLimit: 2';
    let step = runJob(job(spec), undefined, new Map(), 0);
    let now = 0;
    const waits: number[] = [];
    while (!step.record.finish) {
      now += 1_000;
      const failed = runJob(job(spec), step.record, new Map([ended(last(step), 'Failed', now)]), now);
      if (failed.wakeAt !== undefined) {
        waits.push(failed.wakeAt - now);
        expect(runJob(job(spec), failed.record, new Map(), failed.wakeAt - 1).record.active).toEqual([]);
        now = failed.wakeAt;
      }
      step = runJob(job(spec), failed.record, new Map(), now);
    }
    expect(waits).toEqual([10_000, 20_000]);
    expect(step.record).toMatchObject({ failed: 3, finish: { condition: 'Failed', reason: 'BackoffLimitExceeded' } });
    expect(names(step)).toEqual(['web-0-n1', 'web-1-n1', 'web-2-n1']);
  });

  it('waits no longer than six minutes for its next try', () => {
    const first = runJob(job('backoffLimit: 99'), undefined, new Map(), 0);
    const record = { ...first.record, failuresInRow: 20, failed: 20 };
    const failed = runJob(job('backoffLimit: 99'), record, new Map([ended(last(first), 'Failed', 1_000)]), 1_000);
    expect(failed.wakeAt).toBe(361_000);
  });

  it('counts the wait for its next try from the end of the pod that failed', () => {
    const first = runJob(job(), undefined, new Map(), 0);
    const failed = runJob(job(), first.record, new Map([ended(last(first), 'Failed', 1_000)]), 8_000);
    expect([failed.record.active, failed.wakeAt]).toEqual([[], 11_000]);
  });

  it('forgets failures for its waits once a pod has succeeded, and not for backoffLimit', () => {
    const spec = 'completions: 2';
    const first = runJob(job(spec), undefined, new Map(), 0);
    const record = { ...first.record, failuresInRow: 4, failed: 4, lastFailedAt: 500 };
    const good = runJob(job(spec), record, new Map([ended(last(first), 'Succeeded', 1_000)]), 1_000);
    expect(good.record).toMatchObject({ failuresInRow: 0, failed: 4, succeeded: 1 });
    expect(names(good)).toEqual(['web-0-n1', 'web-1-n1']);
  });

  it('runs fewer at a time when parallelism is lowered', () => {
    const first = runJob(job('parallelism: 3'), undefined, new Map(), 0);
    const sights = new Map(first.record.active.map((pod) => running(pod)));
    expect(names(runJob(job('parallelism: 1'), first.record, sights, 1))).toEqual(['web-0-n1']);
  });

  it('runs no more pods than completions are left', () => {
    expect(names(runJob(job('completions: 2\n  parallelism: 5'), undefined, new Map(), 0))).toHaveLength(2);
  });

  it('keeps the ten pods that have ended last', () => {
    const spec = 'completions: 20';
    let step = runJob(job(spec), undefined, new Map(), 0);
    for (let now = 1; now <= 12; now += 1)
      step = runJob(job(spec), step.record, new Map([ended(last(step), 'Succeeded', now)]), now);
    expect(step.record.ended.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 10 }, (_, n) => `web-${n + 2}-n1`),
    );
  });

  it('counts no time against activeDeadlineSeconds while it is suspended', () => {
    const first = runJob(job('activeDeadlineSeconds: 30'), undefined, new Map(), 0);
    const held = runJob(job('activeDeadlineSeconds: 30\n  suspend: true'), first.record, new Map(), 60_000);
    expect(held.record.finish).toBeUndefined();
    expect(runJob(job('activeDeadlineSeconds: 30'), held.record, new Map(), 61_000).wakeAt).toBe(90_000);
  });

  it('counts restarts within a pod against backoffLimit', () => {
    const of = job('backoffLimit: 2', 'restartPolicy: OnFailure, ');
    const first = runJob(of, undefined, new Map(), 0);
    expect(runJob(of, first.record, new Map([running(last(first), undefined, 2)]), 1).record.finish).toBeUndefined();
    const over = runJob(of, first.record, new Map([running(last(first), undefined, 3)]), 1);
    expect(over.record.finish?.reason).toBe('BackoffLimitExceeded');
    expect(names(over)).toEqual([]);
  });

  it('fails as DeadlineExceeded when its activeDeadlineSeconds are over', () => {
    const first = runJob(job('activeDeadlineSeconds: 30'), undefined, new Map(), 1_000);
    expect(first.wakeAt).toBe(31_000);
    const over = runJob(job('activeDeadlineSeconds: 30'), first.record, new Map(), 31_000);
    expect([names(over), over.record.finish?.reason]).toEqual([[], 'DeadlineExceeded']);
  });

  it('removes its pods ttlSecondsAfterFinished after its end, and is not run again', () => {
    const spec = 'ttlSecondsAfterFinished: 60';
    const first = runJob(job(spec), undefined, new Map(), 0);
    const done = runJob(job(spec), first.record, new Map([ended(last(first), 'Succeeded', 5_000)]), 5_000);
    expect([names(done), done.wakeAt]).toEqual([['web-0-n1'], 65_000]);
    expect(names(runJob(job(spec), done.record, new Map(), 65_000))).toEqual([]);
    expect(names(runJob(job(spec), done.record, new Map(), 999_000))).toEqual([]);
  });

  it('runs anew when its template changes', () => {
    const first = runJob(job(), undefined, new Map(), 0);
    const done = runJob(job(), first.record, new Map([ended(last(first), 'Succeeded', 5_000)]), 5_000);
    const again = runJob(job('', '', 'busybox:1.36'), done.record, new Map(), 9_000);
    expect(names(again)).toEqual(['web-0-n1']);
    expect(last(again).metadata.uid).not.toBe(last(first).metadata.uid);
  });

  it('runs nothing while it is suspended, and goes on after that', () => {
    const first = runJob(job(), undefined, new Map(), 0);
    const held = runJob(job('suspend: true'), first.record, new Map(), 1_000);
    expect(names(held)).toEqual([]);
    expect(names(runJob(job(), held.record, new Map(), 2_000))).toEqual(['web-1-n1']);
  });

  it('begins no other worker of a queue once one has succeeded', () => {
    const spec = 'parallelism: 2';
    const first = runJob(job(spec), undefined, new Map(), 0);
    const [one, two] = first.record.active;
    if (!one || !two) throw new Error('two pods were wanted');
    const half = runJob(job(spec), first.record, new Map([ended(one, 'Succeeded', 1)]), 1);
    expect(half.record.active).toEqual([two]);
    expect(half.record.finish).toBeUndefined();
    expect(runJob(job(spec), half.record, new Map([ended(two, 'Succeeded', 2)]), 2).record.finish?.condition).toBe(
      'Complete',
    );
  });
});
