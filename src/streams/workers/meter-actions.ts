import { asyncScheduler, defer, finalize, tap } from 'rxjs';
import type { PodUid } from '../../model/pod.ts';
import type { Meter, WorkOperation } from '../ports/meter.ts';
import type { PodReport, PodWork } from './pod-work.ts';
import type { PodActions } from './pod-workers.ts';

/** The same actions, measured: how long each work took, cut short or not, and how long a new pod took to run. */
export function meterActions({ perform }: PodActions, meter: Meter): PodActions {
  /** Since when pods that have not run yet are worked on. */
  const starting = new Map<PodUid, number>();
  const known = new Set<PodUid>();

  function operationOf(work: PodWork): WorkOperation {
    switch (work.kind) {
      case 'prepare':
        return 'create';
      case 'sync':
        return known.has(work.uid) ? 'sync' : 'create';
      case 'terminate':
        return 'kill';
      case 'cleanUp':
        return 'terminated';
    }
  }

  function begin(work: PodWork, now: number): void {
    const { kind, uid } = work;
    if (kind === 'prepare' || kind === 'sync') {
      const isNew = !known.has(uid) && (kind === 'prepare' || !work.observed?.containers.length);
      if (isNew && !starting.has(uid)) starting.set(uid, now);
    } else {
      starting.delete(uid);
    }
    if (kind === 'sync') known.add(uid);
    else if (kind === 'cleanUp') known.delete(uid);
  }

  function hear(report: PodReport): void {
    const since = starting.get(report.uid);
    if (since === undefined || report.kind !== 'outcome' || !runs(report)) return;
    starting.delete(report.uid);
    meter({ kind: 'podStarted', uid: report.uid, took: asyncScheduler.now() - since });
  }

  return {
    perform: (work, memory) =>
      defer(() => {
        const begun = asyncScheduler.now();
        const operation = operationOf(work);
        begin(work, begun);
        return perform(work, memory).pipe(
          tap(hear),
          finalize(() => {
            meter({ kind: 'work', uid: work.uid, operation, took: asyncScheduler.now() - begun });
          }),
        );
      }),
  };
}

/** Every container of the manifest has an instance that runs or has run. */
function runs({ outcome }: Extract<PodReport, { kind: 'outcome' }>): boolean {
  if (outcome.kind !== 'synced' || outcome.work.kind !== 'sync') return false;
  const begun = new Set(
    outcome.observed.containers
      .filter(({ state }) => state === 'running' || state === 'exited')
      .map(({ name }) => name),
  );
  return outcome.work.pod.spec.containers.every(({ name }) => begun.has(name));
}
