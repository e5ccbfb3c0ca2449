import { map, NEVER, of } from 'rxjs';
import { describe, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import type { ProbePorts } from '../../../../src/streams/probes/probe.ts';
import { prober } from '../../../../src/streams/probes/prober.ts';
import { marbles } from '../../harness.ts';
import { every, good, LONG_AGO, ports } from './answers.ts';
import { book, brief, instance, specOf, type PodSketch } from './books.ts';

describe('prober', () => {
  it(
    'probes what the book holds, and says so when it is probed no more (the diagram of its doc comment)',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const pod: PodSketch = { spec: specOf({ readinessProbe: every(4) }), seen: [instance('i')] };
      const book$ = hot('    ab-------c---a---', {
        a: book(),
        b: book(pod),
        c: book({ ...pod, phase: 'terminating' }),
      });
      const answer$ = cold('  ---(s|)', { s: good });
      const expected = '     -f--r--------e---';
      expectObservable(
        prober(
          book$,
          ports(() => answer$),
          LONG_AGO,
        ).pipe(map(brief)),
      ).toBe(expected, {
        f: 'i ssf+',
        r: 'i sss+!',
        e: 'ended',
      });
      expectSubscriptions(answer$.subscriptions).toBe(['-^--!', '-----^--!', '---------^--!']);
    }),
  );

  it(
    'never completes, not even when the book does',
    marbles(({ cold, expectObservable }) => {
      expectObservable(
        prober(
          cold('b|', { b: book() }),
          ports(() => of(good)),
          LONG_AGO,
        ),
      ).toBe('-');
    }),
  );

  it(
    'regular containers and sidecars are probed, init containers are not, and nothing of pods that wait or are done',
    marbles(({ hot, expectObservable }) => {
      const readinessProbe = every(50);
      const spec: Pod['spec'] = {
        initContainers: [
          { name: 'init', readinessProbe },
          { name: 'side', restartPolicy: 'Always', readinessProbe },
        ],
        containers: [{ name: 'c', readinessProbe }, { name: 'bare' }],
      };
      const seen = ['init', 'side', 'c', 'bare'].map((name) => instance(name, { name }));
      const book$ = hot('    w---s---f---e', {
        w: book({ spec, seen, phase: 'waiting' }),
        s: book({ spec, seen }),
        f: book({ spec, seen, phase: 'finished' }),
        e: book({ spec, seen, phase: 'ended' }),
      });
      const expected = '     ----(sc)(ST)-';
      const report$ = prober(
        book$,
        ports(() => NEVER),
        LONG_AGO,
      );
      expectObservable(report$.pipe(map(({ container, kind }) => `${container} ${kind}`))).toBe(expected, {
        s: 'side found',
        c: 'c found',
        S: 'side ended',
        T: 'c ended',
      });
    }),
  );

  it(
    'the question in flight is cancelled when the pod goes, and probes begin anew when it comes back',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('  ----(s|)', { s: good });
      const here = book({ spec: specOf({ readinessProbe: every(100) }), seen: [instance('i')] });
      const book$ = hot('    h--x--h----', { h: here, x: book() });
      const expected = '     f--e--f---r';
      expectObservable(
        prober(
          book$,
          ports(() => answer$),
          LONG_AGO,
        ).pipe(map(brief)),
        '^----------!',
      ).toBe(expected, {
        f: 'i ssf+',
        r: 'i sss+!',
        e: 'ended',
      });
      expectSubscriptions(answer$.subscriptions).toBe(['^--!', '------^---!']);
    }),
  );

  it(
    'keeps pods apart',
    marbles(({ hot, expectObservable }) => {
      const pod = (uid: string): PodSketch => ({
        uid,
        spec: specOf({ readinessProbe: every(100) }),
        seen: [instance(uid)],
      });
      const book$ = hot('    x--y----z', {
        x: book(pod('x')),
        y: book(pod('x'), pod('y')),
        z: book(pod('y')),
      });
      const expected = '     x--(yr)-e';
      const probe: ProbePorts['probe'] = ({ uid }) => (uid === 'x' ? NEVER : of(good));
      expectObservable(prober(book$, ports(probe), LONG_AGO).pipe(map(brief)), '^--------!').toBe(expected, {
        x: 'x ssf+',
        y: 'y ssf+',
        r: 'y sss+!',
        e: 'ended',
      });
    }),
  );
});
