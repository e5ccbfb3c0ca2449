import { asyncScheduler, defer, EMPTY, map, tap, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { PRE_STOP_HANDLER } from '../../../src/model/cri/labels.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import type { PodNote } from '../../../src/streams/workers/pod-work.ts';
import { stopContainer, stopPod, unlessGone, type Ending } from '../../../src/runtime/stop-pod.ts';
import { container, exited, fakeCri, observed, sandbox, silentHttp } from '../fakes.ts';
import { marbles } from '../harness.ts';

const NOT_FOUND = new RuntimeError('notFound', 'StopContainer', 'no such container');
const two = observed({
  sandboxes: [sandbox()],
  containers: [container({ name: 'a' }), container({ name: 'b' })],
});
const letters = (note$: Observable<PodNote>): Observable<string> => note$.pipe(map(() => 'k'));

/** A pod of which nothing is known but what the runtime tells. */
function ending(cri: Cri): Ending {
  return { cri, http: silentHttp };
}

describe('stopPod', () => {
  it(
    'all containers of a pod are ended at the same time, and its sandbox after the last of them',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold<undefined>('      --|');
      const b = cold<undefined>('      ------|');
      const ofSandbox = cold<undefined>('    --|');
      const expected = '               (kk)----|';
      const cri = fakeCri([], {
        stopContainer: ({ containerId }) => (containerId === 'a-0' ? a : b),
        stopPodSandbox: () => ofSandbox,
      });
      expectObservable(letters(stopPod(two, 30, '', ending(cri)))).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe('^-!');
      expectSubscriptions(b.subscriptions).toBe('^-----!');
      expectSubscriptions(ofSandbox.subscriptions).toBe('------^-!');
    }),
  );

  it(
    'what runs and what nobody knows the state of is ended, and every sandbox is stopped',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const seen = observed({
        sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
        containers: [
          container({ name: 'runs' }),
          container({ name: 'unknown', state: 'unknown' }),
          container({ name: 'created', state: 'created' }),
          exited(0, 0, { name: 'ended' }),
        ],
      });
      expectObservable(letters(stopPod(seen, 30, '', ending(fakeCri(log))))).toBe('(kk|)');
      flush();
      expect(log).toEqual([
        'stopContainer runs-0',
        'stopContainer unknown-0',
        'stopPodSandbox s-1',
        'stopPodSandbox s-0',
      ]);
    }),
  );

  it(
    'has nothing to do for a pod of which nothing is there',
    marbles(({ expectObservable }) => {
      expectObservable(stopPod(observed({}), 30, '', ending(fakeCri([])))).toBe('|');
    }),
  );

  it(
    'what is gone already counts as ended',
    marbles(({ cold, expectObservable }) => {
      const gone = cold<never>('--#', {}, NOT_FOUND);
      const cri = fakeCri([], { stopContainer: () => gone, stopPodSandbox: () => gone });
      expectObservable(letters(stopPod(two, 30, '', ending(cri)))).toBe('(kk)|');
    }),
  );

  it(
    'a container that cannot be ended holds up no other, but the sandbox',
    marbles(({ cold, expectObservable, flush }) => {
      const log: string[] = [];
      const cri = fakeCri(log, {
        stopContainer: ({ containerId }) => cold<undefined>(containerId === 'a-0' ? '-#' : '------|'),
      });
      expectObservable(letters(stopPod(two, 30, '', ending(cri)))).toBe('(kk)--#');
      flush();
      expect(log).toEqual(['stopContainer a-0', 'stopContainer b-0']);
    }),
  );

  it(
    'cancels every call when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = cold<undefined>('-----|');
      expectObservable(letters(stopPod(two, 30, '', ending(fakeCri([], { stopContainer: () => call })))), '^--!').toBe(
        '(kk)',
      );
      expectSubscriptions(call.subscriptions).toBe(['^--!', '^--!']);
    }),
  );
});

describe('stopContainer', () => {
  it.each([
    ['the runtime is asked to end a container within its grace', 30, 30],
    ['a grace of two seconds is given as it is', 2, 2],
    ['the runtime is never asked for less than two seconds', 1, 2],
    ['no grace at all is two seconds, too', 0, 2],
  ])('%s', (_rule, grace, timeout) => {
    marbles(({ expectObservable, flush }) => {
      const asked: unknown[] = [];
      const stop: Cri['stopContainer'] = (request) => {
        asked.push(request);
        return fakeCri([]).stopContainer(request);
      };
      expectObservable(
        letters(stopContainer(container(), grace, '', ending(fakeCri([], { stopContainer: stop })))),
      ).toBe('(k|)');
      flush();
      expect(asked).toEqual([{ containerId: 'main-0', timeout }]);
    })();
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('what is left of the grace after a hook does not depend on a clock that is set %s meanwhile', (_where, by) => {
    marbles(({ expectObservable, flush }) => {
      const { now } = asyncScheduler;
      const asked: (number | undefined)[] = [];
      const cri = fakeCri([], {
        stopContainer: ({ timeout }) =>
          defer(() => {
            asyncScheduler.now = now;
            asked.push(timeout);
            return EMPTY;
          }),
      });
      const hooked = container({ annotations: { [PRE_STOP_HANDLER]: '{"sleep":{"seconds":4}}' } });
      timer(1_500)
        .pipe(
          tap(() => {
            asyncScheduler.now = () => now() + by;
          }),
        )
        .subscribe();
      expectObservable(letters(stopContainer(hooked, 10, '', ending(cri)))).toBe('k 3999ms |');
      flush();
      expect(asked).toHaveLength(1);
      expect(Math.abs((asked[0] ?? 0) - 6)).toBeLessThanOrEqual(1);
    })();
  });

  it(
    'Killing tells why a container is ended, or else only that it is',
    marbles(({ expectObservable }) => {
      const note = (message: string): PodNote => ({ level: 'Normal', reason: 'Killing', message, container: 'main' });
      const cri = fakeCri([]);
      expectObservable(stopContainer(container(), 2, '', ending(cri))).toBe('(n|)', {
        n: note('Stopping container main'),
      });
      expectObservable(stopContainer(container(), 2, 'it changed', ending(cri))).toBe('(n|)', {
        n: note('it changed'),
      });
    }),
  );
});

describe('unlessGone', () => {
  it(
    'completes with the call, and passes every error but that of a thing that is gone',
    marbles(({ cold, expectObservable }) => {
      expectObservable(unlessGone(cold('-(u|)'))).toBe('-|');
      expectObservable(unlessGone(cold('-#', {}, NOT_FOUND))).toBe('-|');
      const other = new RuntimeError('deadline', 'StopContainer', 'too late');
      expectObservable(unlessGone(cold('-#', {}, other))).toBe('-#', {}, other);
    }),
  );
});
