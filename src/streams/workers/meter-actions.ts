import { asyncScheduler, defer, finalize, tap } from 'rxjs';
import type { PodUid } from '../../model/pod.ts';
import { DEAF, type Meter, type WorkOperation } from '../ports/meter.ts';
import type { PodReport, PodWork } from './pod-work.ts';
import type { PodActions } from './pod-workers.ts';

/** The same actions, measured: how long each work took, cut short or not, and how long a new pod took to run. */
export function meterActions(actions: PodActions, meter: Meter): PodActions {
  if (meter === DEAF) return actions;
  const { perform } = actions;
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
      if (!known.has(uid) && !starting.has(uid)) starting.set(uid, now);
    } else {
      starting.delete(uid);
    }
    if (kind === 'sync' && !known.has(uid)) {
      known.add(uid);
      meter({ kind: 'podBegun', containers: work.pod.spec.containers.length, took: 0 });
    }
    if (kind === 'cleanUp') known.delete(uid);
  }

  function hear(report: PodReport): void {
    tellFailures(report);
    const since = starting.get(report.uid);
    if (since === undefined || report.kind !== 'outcome') return;
    const begun = begunIn(report);
    if (begun === undefined) return;
    starting.delete(report.uid);
    // What ran before this agent did has not been started by it.
    if (begun >= since) meter({ kind: 'podStarted', uid: report.uid, took: asyncScheduler.now() - since });
  }

  function tellFailures(report: PodReport): void {
    if (report.kind !== 'outcome' || report.outcome.kind !== 'synced' || report.outcome.work.kind !== 'sync') return;
    const { waiting, work } = report.outcome;
    for (const [name, { reason: code }] of waiting) {
      if (!START_ERRORS.has(code)) continue;
      const isInit = work.pod.spec.initContainers?.some((container) => container.name === name) === true;
      meter({ kind: 'startFailed', container: isInit ? 'init_container' : 'container', code, took: 0 });
    }
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

/** Reasons of waiting that are failures of a start (facts sheet 19.3). */
const START_ERRORS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'PostStartHookError',
  'PreCreateHookError',
  'PreStartHookError',
  'RegistryUnavailable',
  'RunContainerError',
  'SignatureValidationFailed',
]);

/** When the first container of a pod was made (milliseconds since 1970) of which every container has begun to run. */
function begunIn({ outcome }: Extract<PodReport, { kind: 'outcome' }>): number | undefined {
  if (outcome.kind !== 'synced' || outcome.work.kind !== 'sync') return undefined;
  const begun = outcome.observed.containers.filter(({ state }) => state === 'running' || state === 'exited');
  const names = new Set(begun.map(({ name }) => name));
  if (!outcome.work.pod.spec.containers.every(({ name }) => names.has(name))) return undefined;
  return Math.min(...begun.map(({ createdAt }) => createdAt / NANOSECONDS));
}

const NANOSECONDS = 1_000_000;
