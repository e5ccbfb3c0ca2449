import { NEVER, switchMap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerEventResponse, ContainerEventType } from '../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { Became, Hint } from '../../../src/streams/pleg/hint.ts';
import { runtimeHints } from '../../../src/runtime/runtime-hints.ts';
import { fakeCri } from '../fakes.ts';
import { marbles } from '../harness.ts';

const uid = 'u' as PodUid;
const u: Hint = { uid };
const END = { exitCode: 137, finishedAt: 5 };
const e: ContainerEventResponse = { podSandboxStatus: { labels: { 'io.kubernetes.pod.uid': 'u' } } };
const UNIMPLEMENTED = new RuntimeError('unimplemented', 'GetContainerEvents', 'unknown method');
const CUT = new RuntimeError('unavailable', 'GetContainerEvents', 'the stream was cut');
const owners = { ownerOf: (id: string) => (id === 'known' ? uid : undefined) };

describe('runtimeHints', () => {
  it(
    'tells whose pod an event of the CRI is about, and listens again when its stream is cut (the first diagram)',
    marbles(({ cold, expectObservable }) => {
      const streams = ['--e--e--#', '---e'];
      const expected = '--u--u-- 500ms ---u';
      const containerEvents = () => cold(streams.shift() ?? '-', { e }, CUT);
      expectObservable(runtimeHints(fakeCri([], { containerEvents }), () => NEVER, owners).hint$, '^ 999ms !').toBe(
        expected,
        {
          u,
        },
      );
    }),
  );

  it(
    'goes over to the events of tasks where the CRI has none (the second diagram)',
    marbles(({ cold, hot, expectObservable }) => {
      const events = cold<never>('#', {}, UNIMPLEMENTED);
      const tasks = hot('         --t----t-', { t: { containerId: 'known' } });
      const expected = '          --u----u-';
      const cri = fakeCri([], { containerEvents: () => events });
      expectObservable(runtimeHints(cri, () => tasks, owners).hint$).toBe(expected, { u });
    }),
  );

  it(
    'hears sooner of ends where the CRI has events as well (the third diagram)',
    marbles(({ cold, hot, expectObservable, flush }) => {
      const events = hot('       -e 998ms ------e-', { e });
      const tasks = cold('                ----x---', {
        x: { containerId: 'known', became: 'stopped' as const, ended: END },
      });
      const expected = '         -u 998ms ----x-u-';
      const heard: unknown[] = [];
      const { hint$ } = runtimeHints(
        fakeCri([], { containerEvents: () => events }),
        (about) => (about === 'ends' ? tasks : NEVER),
        owners,
        (...end) => heard.push(end),
      );
      expectObservable(hint$).toBe(expected, { u, x: { uid, about: { id: 'known', became: 'stopped', early: true } } });
      flush();
      expect(heard).toEqual([['known', END]]);
    }),
  );

  it(
    'passes over what had happened before it listened, which a runtime may have kept (the fourth diagram)',
    marbles(({ cold, expectObservable }) => {
      const begun = 3;
      const p: ContainerEventResponse = { ...e, createdAt: (begun - 1) * 1e6 };
      const now: ContainerEventResponse = { ...e, createdAt: (begun + 5) * 1e6 };
      const events = cold('(pp)-e-', { p, e: now });
      const expected = '   -----u-';
      const { hint$ } = runtimeHints(fakeCri([], { containerEvents: () => events }), () => NEVER, owners);
      expectObservable(timer(begun).pipe(switchMap(() => hint$))).toBe(`---${expected}`, { u });
    }),
  );

  it(
    'hears all that comes later than a second, whatever its time: clocks are set back',
    marbles(({ cold, expectObservable }) => {
      const p: ContainerEventResponse = { ...e, createdAt: 1 };
      const events = cold('p 998ms -p', { p });
      const { hint$ } = runtimeHints(fakeCri([], { containerEvents: () => events }), () => NEVER, owners);
      expectObservable(timer(3).pipe(switchMap(() => hint$))).toBe('--- 1s u', { u });
    }),
  );

  it(
    'does without them on a runtime that has only events of the CRI',
    marbles(({ hot, expectObservable }) => {
      const events = hot(' ------e-', { e });
      const expected = '   ------u-';
      const noTasks = () => throwError(() => new RuntimeError('unimplemented', 'Subscribe', 'unknown service'));
      expectObservable(runtimeHints(fakeCri([], { containerEvents: () => events }), noTasks, owners).hint$).toBe(
        expected,
        { u },
      );
    }),
  );

  it(
    'says that it listens once a stream has been open for a second, and that it does not as soon as it is cut',
    marbles(({ cold, expectObservable }) => {
      const streams = ['1500ms #', '-'];
      const containerEvents = () => cold<ContainerEventResponse>(streams.shift() ?? '-', {}, CUT);
      const { listening$ } = runtimeHints(fakeCri([], { containerEvents }), () => NEVER, owners);
      expectObservable(listening$, '^ 3500ms !').toBe('f 999ms t 499ms f 1499ms t', { f: false, t: true });
    }),
  );

  it(
    'never says that it listens where the runtime has no events at all',
    marbles(({ expectObservable }) => {
      const cri = fakeCri([], { containerEvents: () => throwError(() => UNIMPLEMENTED) });
      const noTasks = () => throwError(() => new RuntimeError('unimplemented', 'Subscribe', 'unknown service'));
      expectObservable(runtimeHints(cri, noTasks, owners).listening$, '^ 60s !').toBe('f', { f: false });
    }),
  );

  it(
    'finds the owner of an event that names only its container, and passes over strangers',
    marbles(({ hot, expectObservable }) => {
      const events = hot('  -k-s-n-', { k: { containerId: 'known' }, s: { containerId: 'stranger' }, n: {} });
      const expected = '    -u-----';
      const cri = fakeCri([], { containerEvents: () => events });
      const known: Hint = { uid, about: { id: 'known', became: 'created' } }; // proto3 leaves out the first of an enum
      expectObservable(runtimeHints(cri, () => NEVER, owners).hint$).toBe(expected, { u: known });
    }),
  );

  it(
    'tells what has become of which container or sandbox',
    marbles(({ hot, expectObservable }) => {
      const event = (type: ContainerEventType): ContainerEventResponse => ({
        ...e,
        containerId: 'c',
        containerEventType: type,
      });
      const events = hot('  a-b-c', {
        a: event('CONTAINER_STARTED_EVENT'),
        b: event('CONTAINER_STOPPED_EVENT'),
        c: event('CONTAINER_DELETED_EVENT'),
      });
      const became = (what: Became): Hint => ({ uid, about: { id: 'c', became: what } });
      const cri = fakeCri([], { containerEvents: () => events });
      expectObservable(runtimeHints(cri, () => NEVER, owners).hint$).toBe('a-b-c', {
        a: became('started'),
        b: became('stopped'),
        c: became('deleted'),
      });
    }),
  );

  it(
    'listens to tasks again when their stream is cut, asking the CRI first',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const events = cold<never>('#', {}, UNIMPLEMENTED);
      const tasks = cold('--t#', { t: { containerId: 'known' } }, CUT);
      const cri = fakeCri([], { containerEvents: () => events });
      expectObservable(runtimeHints(cri, () => tasks, owners).hint$, '^ 505ms !').toBe('--u 500ms --u', { u });
      expectSubscriptions(events.subscriptions).toBe(['(^!)', '--- 500ms (^!)']);
    }),
  );

  it(
    'is silent, and not broken, where the runtime has no events at all',
    marbles(({ expectObservable }) => {
      const cri = fakeCri([], { containerEvents: () => throwError(() => UNIMPLEMENTED) });
      const noTasks = () => throwError(() => new RuntimeError('unimplemented', 'Subscribe', 'unknown service'));
      expectObservable(runtimeHints(cri, noTasks, owners).hint$, '^ 60s !').toBe('-');
    }),
  );

  it(
    'waits half a second, then longer, at most ten seconds, for a runtime that is down',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const events = cold<never>('#', {}, CUT);
      expectObservable(
        runtimeHints(fakeCri([], { containerEvents: () => events }), () => NEVER, owners).hint$,
        '^ 27s !',
      ).toBe('-');
      expectSubscriptions(events.subscriptions).toBe([
        '(^!)',
        '500ms (^!)',
        '1500ms (^!)',
        '3500ms (^!)',
        '7500ms (^!)',
        '15500ms (^!)',
        '25500ms (^!)',
      ]);
    }),
  );
});
