import { defer, ignoreElements, map, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerState, ObservedPod, Snapshot } from '../../../../src/model/observed.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { Hint } from '../../../../src/streams/pleg/hint.ts';
import { pleg, type PlegPorts, type PlegTimings } from '../../../../src/streams/pleg/pleg.ts';
import { marbles } from '../../harness.ts';

const uid = 'u' as PodUid;
const other = 'o' as PodUid;
const TIMINGS: PlegTimings = {
  period: 10,
  listeningPeriod: 40,
  cooldown: 1,
  threshold: 1_000,
  deadline: 5,
  patience: 3,
  patienceWithBeginnings: 6,
};

function pod(state: ContainerState | undefined, revision: number, of: PodUid = uid): ObservedPod {
  const containers =
    state === undefined
      ? []
      : [
          {
            id: `c-${of}`,
            name: 'c',
            sandboxId: 's',
            attempt: 0,
            state,
            createdAt: 0,
            image: '',
            imageRef: '',
            annotations: {},
          },
        ];
  return { uid: of, name: 'p', namespace: 'default', revision, sandboxes: [], containers };
}

function snapshot(revision: number, ...pods: readonly ObservedPod[]): Snapshot {
  return { revision, pods: new Map(pods.map((listed) => [listed.uid, listed])) };
}

/** Ports of a quiet node; each test says what differs. */
function ports(overrides: Partial<PlegPorts>): PlegPorts {
  return {
    listPods: () => of(snapshot(0)),
    observePod: (_uid, listed) => (listed ? of(listed) : NEVER),
    revision: () => 0,
    nudge$: NEVER,
    hint$: NEVER,
    listening$: of(false),
    known$: NEVER,
    settled: () => of(undefined),
    ...overrides,
  };
}

/** Answers one call after another; then never again. */
function replying<T>(...replies: readonly Observable<T>[]): () => Observable<T> {
  let call = 0;
  return () => replies[call++] ?? NEVER;
}

describe('pleg', () => {
  it(
    'tells what changed between relists, pod by pod, ignoring failed ones (the diagram of its doc comment)',
    marbles(({ cold, expectObservable }) => {
      const listPods = replying<Snapshot>(
        cold('-s|', { s: snapshot(1, pod('running', 1)) }),
        cold('-#'),
        cold('-s|', { s: snapshot(3, pod('exited', 3)) }),
      );
      const observePod: PlegPorts['observePod'] = (_uid, listed) => cold('-(i|)', { i: listed ?? pod(undefined, 9) });
      //   tick          0---------1---------2---------
      //   listPods      -s|       -#        -s|
      //   observePod     -i|                 -i|
      const expected = ' --p-------------------q------';

      const { sighting$ } = pleg(ports({ listPods, observePod }), TIMINGS);
      expectObservable(sighting$, '^ 29ms !').toBe(expected, {
        p: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
        q: { pod: pod('exited', 3), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'relists seldom while the runtime tells by itself what happens, and at once when that begins or ends',
    marbles(({ cold, hot, expectObservable }) => {
      let relists = 0;
      const listPods = () => defer(() => cold('(s|)', { s: snapshot(relists++) }));
      const listening$ = hot('    n------------y 99ms          n', { n: false, y: true });
      const { snapshot$ } = pleg(ports({ listPods, listening$ }), TIMINGS);
      // Every 10 ms at first, every 40 ms while it listens.
      const expected = '          0---------1--2 39ms 3 39ms 4 19ms 5 9ms 6';
      const revisions$ = snapshot$.pipe(map(({ revision }) => String(revision)));
      expectObservable(revisions$, '^ 125ms !').toBe(expected);
    }),
  );

  it(
    'tells that a pod has gone',
    marbles(({ expectObservable }) => {
      const listPods = replying(of(snapshot(1, pod('running', 1))), of(snapshot(2)));
      const observePod: PlegPorts['observePod'] = (_uid, listed) => of(listed ?? pod(undefined, 3));
      const types = ' a 9ms b';

      const { sighting$ } = pleg(ports({ listPods, observePod }), TIMINGS);
      expectObservable(sighting$, '^ 15ms !').toBe(types, {
        a: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
        b: {
          pod: pod(undefined, 3),
          events: [
            { type: 'ContainerDied', uid, containerId: 'c-u' },
            { type: 'ContainerRemoved', uid, containerId: 'c-u' },
          ],
        },
      });
    }),
  );

  it(
    'runs one more relist for nudges that land during one',
    marbles(({ cold, hot, expectObservable }) => {
      const listPods = replying<Snapshot>(
        cold('--s|', { s: snapshot(1, pod('running', 1)) }),
        cold('--s|', { s: snapshot(2, pod('exited', 2)) }),
      );
      const nudge$ = hot('-n-n');
      //                  --s|-        the cooldown of one frame comes after each
      //                      --s|
      const expected = '  --a---b';

      const { sighting$ } = pleg(ports({ listPods, nudge$ }), { ...TIMINGS, period: 1_000 });
      expectObservable(sighting$, '^ 99ms !').toBe(expected, {
        a: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
        b: { pod: pod('exited', 2), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'inspects a stuck pod again at the next relist, and holds up no other pod meanwhile',
    marbles(({ cold, expectObservable }) => {
      const listPods = replying<Snapshot>(
        of(snapshot(1, pod('running', 1), pod('running', 1, other))),
        of(snapshot(2, pod('running', 2), pod('running', 2, other))),
      );
      let asked = 0;
      const observePod: PlegPorts['observePod'] = (which, listed) => {
        if (which === uid && ++asked === 1) return NEVER; // given up after its own deadline of 5
        return cold('-(i|)', { i: listed ?? pod(undefined, 9) });
      };
      const expected = ' -o 9ms u';

      const { sighting$ } = pleg(ports({ listPods, observePod }), TIMINGS);
      expectObservable(sighting$, '^ 19ms !').toBe(expected, {
        o: { pod: pod('running', 1, other), events: [{ type: 'ContainerStarted', uid: other, containerId: 'c-o' }] },
        u: { pod: pod('running', 2), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'keeps what it told when an inspection fails, so that nothing is lost',
    marbles(({ expectObservable }) => {
      const listPods = replying(
        of(snapshot(1, pod('running', 1))),
        of(snapshot(2, pod('exited', 2))),
        of(snapshot(3, pod('exited', 3))),
      );
      let asked = 0;
      const observePod: PlegPorts['observePod'] = (_uid, listed) =>
        ++asked === 2 ? throwError(() => new Error('no')) : of(listed ?? pod(undefined, 9));
      const expected = ' a 19ms b';

      const { sighting$ } = pleg(ports({ listPods, observePod }), TIMINGS);
      expectObservable(sighting$, '^ 25ms !').toBe(expected, {
        a: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
        b: { pod: pod('exited', 3), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'looks at a hinted pod at once, without a relist',
    marbles(({ cold, hot, expectObservable }) => {
      const hint$ = hot<Hint>(' --u', { u: { uid } });
      //   observePod               -(i|)
      const expected = '          ---p';

      const { sighting$ } = pleg(
        ports({ hint$, listPods: () => NEVER, observePod: () => cold('-(i|)', { i: pod('exited', 4) }) }),
        TIMINGS,
      );
      expectObservable(sighting$, '^ 99ms !').toBe(expected, {
        p: { pod: pod('exited', 4), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'looks again for a while when the lists do not show yet what the runtime has hinted at',
    marbles(({ hot, expectObservable }) => {
      const listPods = replying(of(snapshot(1, pod('running', 1))));
      const hint$ = hot<Hint>(' --u', { u: { uid } });
      let revision = 1;
      const looks = ['running', 'running', 'exited'] as const;
      const observePod: PlegPorts['observePod'] = (_uid, listed) =>
        listed ? of(listed) : of(pod(looks[revision - 1], ++revision));
      //   looks                    2, 17, 57
      const expected = '          a 56ms p';

      const { sighting$ } = pleg(ports({ hint$, listPods, observePod, revision: () => revision }), {
        ...TIMINGS,
        period: 5_000,
      });
      expectObservable(sighting$, '^ 999ms !').toBe(expected, {
        a: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
        p: { pod: pod('exited', 4), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it.each<[string, Hint['about'] & {}, number]>([
    ['asks nothing where the worker has seen already what is hinted at', { id: 'c-u', became: 'created' }, 0],
    ['asks nothing where the worker has seen even more than is hinted at', { id: 'c-u', became: 'started' }, 0],
    ['looks until what is hinted at is there, whatever else there is to see', { id: 'c-u', became: 'stopped' }, 3],
    ['looks until what is hinted at has gone', { id: 'c-u', became: 'deleted' }, 4],
    ['gives up what never comes', { id: 'none', became: 'started' }, 5],
  ])('%s', (_, about, most) => {
    marbles(({ hot, expectObservable, flush }) => {
      const known$ = hot('        k', { k: pod('running', 7) });
      const hint$ = hot<Hint>('   --h', { h: { uid, about } });
      const states = ['running', 'unknown', 'exited', undefined, undefined] as const;
      let looks = 0;
      const { sighting$ } = pleg(
        ports({
          hint$,
          known$,
          revision: () => 7,
          listPods: () => NEVER,
          observePod: () => of(pod(states[looks], 8 + looks++)),
        }),
        TIMINGS,
      );
      expectObservable(sighting$.pipe(ignoreElements()), '^ 999ms !').toBe('-');
      flush();
      expect(looks).toBe(most);
    })();
  });

  it.each<[string, Hint['about'] & {}, number]>([
    ['asks the CRI again when that tells an end itself', { id: 'c-u', became: 'stopped' }, 2],
    ['asks nothing when only told early once more', { id: 'c-u', became: 'stopped', early: true }, 0],
  ])('of an end that was believed early, %s', (_, about, most) => {
    marbles(({ hot, expectObservable, flush }) => {
      const final = pod('exited', 7);
      const early = final.containers.map((one) => ({ ...one, early: true as const }));
      const known$ = hot('        k', { k: { ...final, containers: early } });
      const hint$ = hot<Hint>('   --h', { h: { uid, about } });
      let looks = 0;
      const observePod = () =>
        of({ ...final, revision: 8 + looks, containers: looks++ === 0 ? early : final.containers });
      const { sighting$ } = pleg(
        ports({ hint$, known$, revision: () => 7, listPods: () => NEVER, observePod }),
        TIMINGS,
      );
      expectObservable(sighting$.pipe(ignoreElements()), '^ 999ms !').toBe('-');
      flush();
      expect(looks).toBe(most);
    })();
  });

  it(
    'leaves a hinted pod alone while it is being worked on, and spares the look when the worker had one',
    marbles(({ hot, expectObservable, flush }) => {
      const hint$ = hot<Hint>(' --u------', { u: { uid } });
      const known$ = hot('        ----k----', { k: pod('running', 7) });
      const settled$ = hot('      ----d----');
      const expected = '          ---------';
      let looks = 0;

      const { sighting$ } = pleg(
        ports({
          hint$,
          known$,
          listPods: () => NEVER,
          settled: () => settled$,
          observePod: () => {
            looks += 1;
            return of(pod('running', 8));
          },
        }),
        TIMINGS,
      );
      expectObservable(sighting$, '^--------!').toBe(expected);
      flush();
      expect(looks).toBe(0);
    }),
  );

  it(
    'loses patience with a worker that takes long, so that a dying container is seen all the same',
    marbles(({ hot, expectObservable }) => {
      const hint$ = hot<Hint>(' --u------', { u: { uid } });
      //   patience                 ---|
      const expected = '          -----p---';

      const { sighting$ } = pleg(
        ports({ hint$, listPods: () => NEVER, settled: () => NEVER, observePod: () => of(pod('exited', 5)) }),
        TIMINGS,
      );
      expectObservable(sighting$, '^--------!').toBe(expected, {
        p: { pod: pod('exited', 5), events: [{ type: 'ContainerDied', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'does not tell again what a worker has seen itself',
    marbles(({ hot, expectObservable }) => {
      const listPods = replying(of(snapshot(1)), of(snapshot(3, pod('running', 3))));
      const known$ = hot('   ---k', { k: pod('running', 2) });
      const expected = '   -';

      const { sighting$ } = pleg(ports({ listPods, known$ }), TIMINGS);
      expectObservable(sighting$, '^ 25ms !').toBe(expected);
    }),
  );

  it(
    'ignores a relist that began before the worker looked',
    marbles(({ hot, cold, expectObservable }) => {
      const listPods = replying<Snapshot>(cold('-----s|', { s: snapshot(1, pod('running', 1)) }));
      const known$ = hot('   ---k', { k: pod('exited', 2) });
      const expected = '   -';

      const { sighting$ } = pleg(ports({ listPods, known$ }), TIMINGS);
      expectObservable(sighting$, '^ 9ms !').toBe(expected);
    }),
  );

  it(
    'survives a restart of the runtime: failed relists tell nothing, and running pods are no news afterwards',
    marbles(({ expectObservable }) => {
      const down = throwError(() => new Error('connection refused'));
      const listPods = replying(of(snapshot(1, pod('running', 1))), down, down, of(snapshot(4, pod('running', 4))));
      const expected = ' a';

      const { sighting$ } = pleg(ports({ listPods }), TIMINGS);
      expectObservable(sighting$, '^ 39ms !').toBe(expected, {
        a: { pod: pod('running', 1), events: [{ type: 'ContainerStarted', uid, containerId: 'c-u' }] },
      });
    }),
  );

  it(
    'is unhealthy once no relist has succeeded for the threshold, and says what failed, until one does',
    marbles(({ expectObservable }) => {
      const listPods = replying<Snapshot>(
        throwError(() => new Error('ListContainers: deadline exceeded')),
        of(snapshot(1)),
      );
      const expected = ' t 9ms f 9ms t';

      const { health$ } = pleg(ports({ listPods }), { ...TIMINGS, period: 20, threshold: 10 });
      expectObservable(health$, '^ 24ms !').toBe(expected, {
        t: { healthy: true, message: '' },
        f: { healthy: false, message: 'no relist has succeeded for 0 s: ListContainers: deadline exceeded' },
      });
    }),
  );
});
