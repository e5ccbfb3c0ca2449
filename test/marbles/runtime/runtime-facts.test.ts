import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RuntimeConfigResponse, VersionResponse } from '../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { runtimeFacts, WrongApiError } from '../../../src/runtime/runtime-facts.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import { fakeCri } from '../fakes.ts';
import { marbles } from '../harness.ts';

const VERSION: VersionResponse = { runtimeName: 'containerd', runtimeVersion: '2.1.9', runtimeApiVersion: 'v1' };
const facts = (cgroupDriver: string) => ({ runtimeName: 'containerd', runtimeVersion: '2.1.9', cgroupDriver });
const runtime = (answers: Partial<Cri>): Cri => fakeCri([], { version: () => of(VERSION), ...answers });
const ignore = (): void => undefined;

describe('runtimeFacts', () => {
  it(
    'waits for a runtime that is not there, longer each time, and says why (the diagram of its doc comment)',
    marbles(({ cold, expectObservable, flush }) => {
      const tries = ['--#', '--#', '--(v|)'];
      const expected = '-- 100ms -- 200ms --(f|)';
      const waits: string[] = [];
      const version: Cri['version'] = () => cold(tries.shift() ?? '-', { v: VERSION }, new Error('no such socket'));
      const asked$ = runtimeFacts(runtime({ version }), 'cgroupfs', (why) => waits.push(why));
      expectObservable(asked$).toBe(expected, { f: facts('cgroupfs') });
      flush();
      expect(waits).toEqual(['no such socket', 'no such socket']);
    }),
  );

  it(
    'never waits longer than two seconds',
    marbles(({ expectObservable, flush }) => {
      const waits: string[] = [];
      const version: Cri['version'] = () => throwError(() => new Error('down'));
      expectObservable(
        runtimeFacts(runtime({ version }), 'systemd', (why) => waits.push(why)),
        '^ 60s !',
      ).toBe('-');
      flush();
      // At 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s, then each 2 s.
      expect(waits.length).toBe(6 + 28);
    }),
  );

  it.each<[string, RuntimeConfigResponse, string]>([
    ['takes cgroupfs from the runtime', { linux: { cgroupDriver: 'CGROUPFS' } }, 'cgroupfs'],
    ['takes systemd from the runtime', { linux: { cgroupDriver: 'SYSTEMD' } }, 'systemd'],
    ['takes a section without a driver for systemd, the first of its enum', { linux: {} }, 'systemd'],
    ['keeps what is configured where the runtime tells nothing of Linux', {}, 'cgroupfs'],
  ])('%s', (_rule, answer, driver) => {
    marbles(({ expectObservable }) => {
      const cri = runtime({ runtimeConfig: () => of(answer) });
      expectObservable(runtimeFacts(cri, 'cgroupfs', ignore)).toBe('(f|)', { f: facts(driver) });
    })();
  });

  it(
    'keeps what is configured where the runtime does not know the question',
    marbles(({ expectObservable }) => {
      const unimplemented = throwError(() => new RuntimeError('unimplemented', 'RuntimeConfig', 'unknown method'));
      const cri = runtime({ runtimeConfig: () => unimplemented });
      expectObservable(runtimeFacts(cri, 'systemd', ignore)).toBe('(f|)', { f: facts('systemd') });
    }),
  );

  it(
    'asks again when the runtime goes between two questions',
    marbles(({ expectObservable }) => {
      const answers = [throwError(() => new RuntimeError('unavailable', 'RuntimeConfig', 'gone')), of({ linux: {} })];
      const cri = runtime({ runtimeConfig: () => answers.shift() ?? of({}) });
      expectObservable(runtimeFacts(cri, 'cgroupfs', ignore)).toBe('100ms (f|)', { f: facts('systemd') });
    }),
  );

  it(
    'gives up on a runtime that speaks another CRI',
    marbles(({ expectObservable }) => {
      const cri = runtime({ version: () => of({ ...VERSION, runtimeApiVersion: 'v1alpha2' }) });
      expectObservable(runtimeFacts(cri, 'cgroupfs', ignore)).toBe('#', {}, new WrongApiError('v1alpha2'));
    }),
  );

  it(
    'stops asking when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const version = cold<VersionResponse>('-----(v|)');
      expectObservable(runtimeFacts(runtime({ version: () => version }), 'cgroupfs', ignore), '^--!').toBe('-');
      expectSubscriptions(version.subscriptions).toBe('^--!');
    }),
  );
});
