import { asyncScheduler, defer, of, takeUntil, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { StatusResponse, VersionResponse } from '../../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../../src/model/errors.ts';
import {
  runtimeState,
  UNKNOWN_RUNTIME,
  type RuntimeState,
} from '../../../../src/streams/runtime-state/runtime-state.ts';
import type { Cri } from '../../../../src/streams/ports/cri.ts';
import { marbles } from '../../harness.ts';

const VERSION: VersionResponse = { runtimeName: 'containerd', runtimeVersion: '2.1.9' };
const WELL: RuntimeState = { ready: true, networkReady: true, message: '', name: 'containerd', version: '2.1.9' };
const DOWN = new RuntimeError('unavailable', 'Status', 'no such socket');

function status(runtime: boolean | undefined, network: boolean | undefined, message?: string): StatusResponse {
  return {
    status: {
      conditions: [
        { type: 'RuntimeReady', status: runtime },
        { type: 'NetworkReady', status: network, message },
      ],
    },
  };
}

type Ports = Pick<Cri, 'version' | 'status'>;
const ports = (answers: Partial<Ports>): Ports => ({
  version: () => of(VERSION),
  status: () => of(status(true, true)),
  ...answers,
});

describe('runtimeState', () => {
  it(
    'tells what has changed at each look (the diagram of its doc comment)',
    marbles(({ cold, expectObservable }) => {
      const looks = ['--(r|)', '--(r|)', '--#', '--(r|)'];
      const expected = '--r-------------------u---------r---';
      const asked = () => cold(looks.shift() ?? '-', { r: status(true, true) }, DOWN);
      expectObservable(runtimeState(ports({ status: asked }), 10), '^ 35ms !').toBe(expected, {
        r: WELL,
        u: { ...WELL, ready: false, networkReady: false, message: 'no such socket' },
      });
    }),
  );

  it(
    'asks one that is well and tells its events more seldom, and at once when they are heard no more',
    marbles(({ hot, flush }) => {
      const asked: number[] = [];
      const answers = [true, true, false, true, true, true];
      const well = () => {
        asked.push(asyncScheduler.now());
        return of(status(true, answers.shift() ?? true));
      };
      const listening$ = hot('-y 99ms n 20ms |', { y: true, n: false });
      runtimeState(ports({ status: well }), 5, listening$)
        .pipe(takeUntil(timer(115)))
        .subscribe();
      flush();
      // Without its network at the third time it is asked at every period until that is back.
      expect(asked).toEqual([1, 21, 41, 46, 61, 81, 101, 106, 111]);
    }),
  );

  it(
    'knows nothing of a runtime that has never answered, but why',
    marbles(({ expectObservable }) => {
      const version = () => throwError(() => DOWN);
      expectObservable(runtimeState(ports({ version }), 5), '^ 99ms !').toBe('u', {
        u: { ...UNKNOWN_RUNTIME, message: 'no such socket' },
      });
    }),
  );

  it.each<[string, StatusResponse, Partial<RuntimeState>]>([
    [
      'is ready without its network',
      status(true, undefined, 'cni plugin not initialized'),
      { networkReady: false, message: 'NetworkReady=false: cni plugin not initialized' },
    ],
    [
      'is not ready by its own word',
      status(undefined, true),
      { ready: false, message: 'RuntimeReady=false: the runtime does not tell why' },
    ],
    [
      'is not ready when it tells nothing',
      {},
      {
        ready: false,
        networkReady: false,
        message: 'RuntimeReady=false: the runtime does not tell why; NetworkReady=false: the runtime does not tell why',
      },
    ],
  ])('%s', (_what, answer, state) => {
    marbles(({ expectObservable }) => {
      expectObservable(runtimeState(ports({ status: () => of(answer) }), 5), '^ 20ms !').toBe('s', {
        s: { ...WELL, ...state },
      });
    })();
  });

  it(
    'tells a new version of the runtime, and a new reason',
    marbles(({ expectObservable }) => {
      const versions = [VERSION, { ...VERSION, runtimeVersion: '2.2.0' }];
      const messages = ['a', 'a', 'a', 'b'];
      const answers = {
        version: () => defer(() => of(versions.shift() ?? { ...VERSION, runtimeVersion: '2.2.0' })),
        status: () => of(status(true, undefined, messages.shift() ?? 'b')),
      };
      const state = (version: string, why: string): RuntimeState => ({
        ...WELL,
        networkReady: false,
        version,
        message: `NetworkReady=false: ${why}`,
      });
      expectObservable(runtimeState(answers, 30_000), '^ 130s !').toBe('a 59999ms b 29999ms c', {
        a: state('2.1.9', 'a'),
        b: state('2.2.0', 'a'),
        c: state('2.2.0', 'b'),
      });
    }),
  );

  it(
    'asks for the version once a minute, and at once after a failure',
    marbles(({ expectObservable, flush }) => {
      let asked = 0;
      const version = () =>
        defer(() => {
          asked += 1;
          return of({ ...VERSION, runtimeVersion: asked === 1 ? '2.1.9' : '2.2.0' });
        });
      const answers = [of(status(true, true)), throwError(() => DOWN)];
      const state = runtimeState(ports({ version, status: () => answers.shift() ?? of(status(true, true)) }), 5_000);
      expectObservable(state, '^ 69s !').toBe('w 4999ms d 4999ms n', {
        w: WELL,
        d: { ...WELL, ready: false, networkReady: false, message: 'no such socket' },
        n: { ...WELL, version: '2.2.0' },
      });
      flush();
      expect(asked).toBe(2);
    }),
  );

  it(
    'skips looks while the runtime takes its time, and cancels the call when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('------------(r|)', { r: status(true, true) });
      expectObservable(runtimeState(ports({ status: () => slow }), 5), '^----------------!').toBe('------------r', {
        r: WELL,
      });
      expectSubscriptions(slow.subscriptions).toBe(['^-----------!', '---------------^-!']);
    }),
  );
});
