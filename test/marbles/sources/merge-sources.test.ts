import { defer, map, merge, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired, Problem } from '../../../src/model/desired.ts';
import type { Pod, PodUid, SourceName } from '../../../src/model/pod.ts';
import { mergeSources } from '../../../src/sources/merge-sources.ts';
import { marbles } from '../harness.ts';

function pod(uid: string, image = 'web:1'): Pod {
  return {
    metadata: { uid: uid as PodUid, name: uid, namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [{ name: 'c', image }] },
  };
}

function set(source: SourceName, ...pods: readonly Pod[]): Desired {
  return { source, pods, problems: [] };
}

const none: ReadonlySet<SourceName> = new Set();

describe('mergeSources', () => {
  it(
    'does what its diagram shows',
    marbles(({ hot, expectObservable }) => {
      const file$ = hot(' -f-------------', { f: set('file', pod('p')) });
      const http$ = hot(' ---h-----------', { h: set('http') });
      const api$ = hot('  -----a---b-----', { a: set('api', pod('q'), pod('r')), b: set('api', pod('q', 'web:2')) });
      const change$ = '   -p---(qr)(RQ)--';

      const sources = mergeSources([
        { name: 'file', desired$: file$ },
        { name: 'http', desired$: http$ },
        { name: 'api', desired$: api$ },
      ]);
      expectObservable(
        sources.change$.pipe(map(({ op, source, pod: { metadata } }) => [op, source, metadata.uid])),
      ).toBe(change$, {
        p: ['add', 'file', 'p'],
        q: ['add', 'api', 'q'],
        r: ['add', 'api', 'r'],
        R: ['remove', 'api', 'r'],
        Q: ['update', 'api', 'q'],
      });
    }),
  );

  it(
    'says nothing while no source does, and completes when all have',
    marbles(({ cold, expectObservable }) => {
      expectObservable(mergeSources([{ name: 'file', desired$: NEVER }]).change$).toBe('-');
      expectObservable(mergeSources([]).change$).toBe('|');
      expectObservable(
        mergeSources([
          { name: 'file', desired$: cold('--|') },
          { name: 'api', desired$: cold('-----|') },
        ]).change$,
      ).toBe('-----|');
    }),
  );

  it(
    'counts a source as seen after its first set, even an empty one',
    marbles(({ hot, expectObservable }) => {
      const file$ = hot('  ----f--f-', { f: set('file') });
      const api$ = hot('   --a------', { a: set('api', pod('p')) });
      const seen = '       n-a-b----';
      const allSeen = '    f---t----';

      const { seen$, allSeen$ } = mergeSources([
        { name: 'file', desired$: file$ },
        { name: 'api', desired$: api$ },
      ]);
      expectObservable(seen$).toBe(seen, { n: none, a: new Set(['api']), b: new Set(['api', 'file']) });
      expectObservable(allSeen$).toBe(allSeen, { f: false, t: true });
      expectObservable(mergeSources([]).allSeen$).toBe('(f|)', { f: false });
    }),
  );

  it('tells that all are seen only after every pod of their first sets, whoever listens first', () => {
    const log: string[] = [];
    marbles(({ hot, expectObservable, flush }) => {
      const live = mergeSources([{ name: 'file', desired$: hot('--f', { f: set('file', pod('p')) }) }]);
      const both$ = merge(
        live.allSeen$.pipe(map((all) => (all ? 'all seen' : 'waiting'))),
        live.change$.pipe(map(({ pod: { metadata } }) => metadata.uid)),
      );
      expectObservable(both$.pipe(map((line) => log.push(line)))).toBe('w-(ps)', { w: 1, p: 2, s: 3 });
      flush();
    })();
    expect(log).toEqual(['waiting', 'p', 'all seen']);
  });

  it(
    'tries a broken source again, alone, later and later, and shows its failure until it speaks',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const api$ = cold<Desired>('--#', {}, new Error('refused'));
      const file$ = hot('         -f 3s g', { f: set('file', pod('p')), g: set('file', pod('p'), pod('q')) });
      const { change$, problem$ } = mergeSources([
        { name: 'api', desired$: api$ },
        { name: 'file', desired$: file$ },
      ]);
      const failed = (seconds: number): readonly Problem[] => [
        {
          source: 'api',
          origin: 'api',
          message: `the api source failed (refused); trying again in ${String(seconds)} s`,
        },
      ];

      expectObservable(change$.pipe(map((change) => change.pod.metadata.uid)), '^ 5s !').toBe('-p 3s q');
      expectObservable(problem$, '^ 5s !').toBe('n-1 1001ms 2 2001ms 4', {
        n: [],
        1: failed(1),
        2: failed(2),
        4: failed(4),
      });
      expectSubscriptions(api$.subscriptions).toBe(['^-!', '1002ms ^-!', '3004ms ^-!']);
    }),
  );

  it(
    'keeps the last set of a source that broke, and forgets the failure when it is back',
    marbles(({ cold, expectObservable }) => {
      const attempts = [
        cold<Desired>('a#', { a: set('api', pod('p')) }),
        cold<Desired>('b', { b: set('api', pod('p')) }),
      ];
      const desired$ = defer(() => attempts.shift() ?? NEVER);
      const { change$, problem$ } = mergeSources([{ name: 'api', desired$ }]);
      expectObservable(change$.pipe(map(({ op }) => op)), '^ 5s !').toBe('a', { a: 'add' });
      expectObservable(problem$.pipe(map((problems) => problems.length)), '^ 5s !').toBe('01 999ms 0', { 0: 0, 1: 1 });
    }),
  );

  it(
    'subscribes to each source once for all that listen, and lets go when all have left',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const file$ = hot('-f----', { f: set('file', pod('p')) });
      const { change$, seen$, allSeen$, problem$ } = mergeSources([{ name: 'file', desired$: file$ }]);
      for (const stream$ of [change$, seen$, allSeen$, problem$]) expectObservable<unknown>(stream$, '^--!');
      expectSubscriptions(file$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'tells a late listener everything that holds as added, then what changes',
    marbles(({ hot, expectObservable }) => {
      const file$ = hot('-f----g---', { f: set('file', pod('p'), pod('q')), g: set('file', pod('q', 'web:2')) });
      const early = '    -(pq)-(PQ)';
      const late = '     --(pq)(PQ)'; // listens from frame 2 on
      const { change$ } = mergeSources([{ name: 'file', desired$: file$ }]);
      const told$ = change$.pipe(map(({ op, pod: { metadata } }) => `${op} ${metadata.uid}`));
      const values = { p: 'add p', q: 'add q', P: 'remove p', Q: 'update q' };
      expectObservable(told$).toBe(early, values);
      expectObservable(told$, '--^').toBe(late, values);
    }),
  );

  it(
    'calls a source by its own name',
    marbles(({ hot, expectObservable }) => {
      const desired$ = hot('-f', { f: set('api', pod('p')) });
      const { change$ } = mergeSources([{ name: 'http', desired$ }]);
      expectObservable(
        change$.pipe(
          map(({ source, pod: { metadata } }) => [source, metadata.annotations['kubernetes.io/config.source']]),
        ),
      ).toBe('-p', { p: ['http', 'http'] });
    }),
  );

  it(
    'stamps the time at which a pod was first seen',
    marbles(({ hot, expectObservable }) => {
      const desired$ = hot('1500ms f', { f: set('file', pod('p')) });
      const { change$ } = mergeSources([{ name: 'file', desired$ }]);
      expectObservable(
        change$.pipe(map((change) => change.pod.metadata.annotations['kubernetes.io/config.seen'])),
      ).toBe('1500ms p', { p: '1970-01-01T00:00:01.5Z' });
    }),
  );

  it(
    'tells sources of one name apart by their places: each is heard for itself, and keeps its own pods',
    marbles(({ hot, expectObservable }) => {
      const one$ = hot('-a----c-', { a: set('http', pod('p')), c: set('http') });
      const two$ = hot('---b----', { b: set('http', pod('q'), { ...pod('r'), metadata: pod('p').metadata }) });
      const { change$, allSeen$, problem$ } = mergeSources([
        { name: 'http', place: 'http://one/', desired$: one$ },
        { name: 'http', place: 'http://two/', desired$: two$ },
      ]);
      expectObservable(
        change$.pipe(map(({ op, source, pod: { metadata } }) => `${op} ${source} ${metadata.uid}`)),
      ).toBe('-p-q--(Pr)', { p: 'add http p', q: 'add http q', P: 'remove http p', r: 'add http p' });
      expectObservable(allSeen$).toBe('f--t', { f: false, t: true });
      expectObservable(problem$.pipe(map((all) => all.map(({ origin, message }) => `${origin} ${message}`)))).toBe(
        'n--x--n',
        { n: [], x: ['http://two/ the pod default/p is left out: a pod from http://one/ already has the UID p'] },
      );
    }),
  );

  it(
    'does not count a source as seen that says that it is unheard, and tells why',
    marbles(({ hot, expectObservable }) => {
      const problem: Problem = { source: 'http', origin: 'http://one/', message: 'the server answers 500' };
      const desired$ = hot<Desired>('-u--a', {
        u: { ...set('http'), unheard: true, problems: [problem] },
        a: set('http', pod('p')),
      });
      const { change$, allSeen$, problem$ } = mergeSources([{ name: 'http', place: 'http://one/', desired$ }]);
      expectObservable(change$.pipe(map(({ op }) => op))).toBe('----a', { a: 'add' });
      expectObservable(allSeen$).toBe('f---t', { f: false, t: true });
      expectObservable(problem$).toBe('nu--n', { n: [], u: [problem] });
    }),
  );
});
