import { EMPTY, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Measured } from '../../../../src/streams/ports/meter.ts';
import { meterActions } from '../../../../src/streams/workers/meter-actions.ts';
import type { PodReport, PodWork } from '../../../../src/streams/workers/pod-work.ts';
import { observed, pod, UID } from '../../fakes.ts';

const plain = pod();
const WITH_INIT = { ...plain, spec: { ...plain.spec, initContainers: [{ name: 'setup' }] } };
const SYNC: PodWork = { kind: 'sync', uid: UID, pod: WITH_INIT, probes: new Map(), why: '' };

/** What is measured of a sync that leaves containers waiting for these reasons. */
function measured(reasons: Readonly<Record<string, string>>): readonly Measured[] {
  const waiting = new Map(Object.entries(reasons).map(([name, reason]) => [name, { reason, message: '' }]));
  const report: PodReport = {
    kind: 'outcome',
    uid: UID,
    outcome: { kind: 'synced', uid: UID, work: SYNC, observed: observed({}), waiting, finished: false, next: 1 },
  };
  const all: Measured[] = [];
  meterActions({ perform: () => of(report) }, (one) => all.push(one))
    .perform(SYNC, undefined as never)
    .subscribe({
      error: (error: unknown) => {
        throw error;
      },
    });
  return all.filter(({ kind }) => kind === 'startFailed');
}

describe('meterActions', () => {
  it('tells which containers could not be started, and why', () => {
    expect(measured({ setup: 'ErrImagePull', main: 'CreateContainerConfigError' })).toEqual([
      { kind: 'startFailed', container: 'init_container', code: 'ErrImagePull', took: 0 },
      { kind: 'startFailed', container: 'container', code: 'CreateContainerConfigError', took: 0 },
    ]);
  });

  it('tells the containers of a pod at its first sync, and again when it begins anew', () => {
    const all: Measured[] = [];
    const { perform } = meterActions({ perform: () => EMPTY }, (one) => all.push(one));
    const cleanUp: PodWork = { kind: 'cleanUp', uid: UID, of: { uid: UID, name: 'web', namespace: 'default' } };
    const begun = [SYNC, SYNC, cleanUp, SYNC].map((work) => {
      all.length = 0;
      perform(work, undefined as never).subscribe();
      return all.filter(({ kind }) => kind === 'podBegun');
    });
    const told = { kind: 'podBegun', containers: 1, took: 0 };
    expect(begun).toEqual([[told], [], [], [told]]);
  });

  it('does not take waiting for a failure', () => {
    expect(measured({ setup: 'PodInitializing', main: 'CrashLoopBackOff', other: 'ContainerCreating' })).toEqual([]);
  });
});
