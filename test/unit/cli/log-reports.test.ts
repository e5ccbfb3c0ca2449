import { describe, expect, it } from 'vitest';
import { housekeepingLine, plegLine, reportLine, runtimeLine } from '../../../src/cli/log-reports.ts';
import { emptyBook } from '../../../src/streams/book/pod-book.ts';
import type { PodOutcome, PodReport, PodWork } from '../../../src/streams/workers/pod-work.ts';
import { observed, pod, UID } from '../../marbles/fakes.ts';

const BOOK = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'prepare', statuses: new Map() });
const SYNC: PodWork = { kind: 'sync', uid: UID, pod: pod(), probes: new Map(), why: 'the manifest is new' };
const END: PodWork = {
  kind: 'terminate',
  uid: UID,
  of: { uid: UID, name: 'web', namespace: 'default' },
  grace: 30,
  why: 'gone',
};
const CLEAN_UP: PodWork = { kind: 'cleanUp', uid: UID, of: END.of };

function outcome(its: PodOutcome): PodReport {
  return { kind: 'outcome', uid: UID, outcome: its };
}

function note(level: 'Normal' | 'Warning', reason: string): PodReport {
  return { kind: 'note', uid: UID, note: { level, reason, message: 'text', container: 'main' } };
}

describe('reportLine', () => {
  it.each<[string, PodReport, object]>([
    ['a warning is one', note('Warning', 'Failed'), { level: 'warn', message: 'text' }],
    [
      'what happened is news',
      note('Normal', 'Started'),
      { level: 'info', fields: { pod: 'u-1', container: 'main', reason: 'Started' } },
    ],
    [
      'what is tried again tells when',
      { kind: 'note', uid: UID, note: { level: 'Warning', reason: 'Failed', message: 'text', nextTry: 20_000 } },
      { fields: { pod: 'u-1', reason: 'Failed', nextTry: '20s' } },
    ],
    ['a step that goes without saying is a detail', note('Normal', 'Pulled'), { level: 'debug' }],
    [
      'a failure says what is tried again, and why',
      outcome({ kind: 'failed', uid: UID, work: END, error: new Error('too late'), next: 1 }),
      { level: 'warn', message: 'ending the pod failed and is tried again: too late', fields: { pod: 'default/web' } },
    ],
    [
      'the end of a pod is news, under the name that its last work knew',
      outcome({ kind: 'cleanedUp', uid: UID, work: CLEAN_UP }),
      { level: 'info', message: 'the pod is gone', fields: { pod: 'default/web' } },
    ],
    [
      'an outcome as wished is a detail that tells its reason',
      outcome({
        kind: 'synced',
        uid: UID,
        work: SYNC,
        observed: observed({}),
        waiting: new Map(),
        finished: false,
        next: 1,
      }),
      { level: 'debug', message: 'synced', fields: { pod: 'u-1', why: 'the manifest is new' } },
    ],
  ])('%s', (_rule, report, line) => {
    expect(reportLine(report, BOOK)).toMatchObject(line);
  });
});

describe('housekeepingLine', () => {
  it('is news when something was removed, a warning when something is in the way', () => {
    expect(housekeepingLine({ ok: true, path: '/a', message: 'm' })).toEqual({
      level: 'info',
      message: 'm',
      fields: { path: '/a' },
    });
    expect(housekeepingLine({ ok: false, path: '/a', message: 'm' }).level).toBe('warn');
  });
});

describe('runtimeLine', () => {
  const state = { ready: true, networkReady: true, message: '', name: 'containerd', version: '2.1' };

  it('tells that the runtime is ready, or why it is not', () => {
    expect(runtimeLine(state)).toMatchObject({ level: 'info', fields: { runtime: 'containerd', version: '2.1' } });
    expect(runtimeLine({ ...state, networkReady: false, message: 'no CNI' })).toEqual({
      level: 'warn',
      message: 'the container runtime is not ready: no CNI',
    });
  });
});

describe('plegLine', () => {
  it('is an error while the runtime cannot be listed', () => {
    expect(plegLine({ healthy: false, message: 'why' })).toEqual({
      level: 'error',
      message: 'PLEG is not healthy: why',
    });
    expect(plegLine({ healthy: true, message: '' }).level).toBe('debug');
  });
});
