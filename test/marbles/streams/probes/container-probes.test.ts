import { concatMap, map, NEVER, of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { containerProbes } from '../../../../src/streams/probes/container-probes.ts';
import { probedContainers } from '../../../../src/streams/probes/probed-container.ts';
import type { ProbePorts } from '../../../../src/streams/probes/probe.ts';
import type { PodBook } from '../../../../src/streams/book/pod-book.ts';
import { marbles } from '../../harness.ts';
import { answering, bad, every, good, LONG_AGO, ports } from './answers.ts';
import { book, brief, instance, specOf, type PodSketch } from './books.ts';

function probing(book$: Observable<PodBook>, given: ProbePorts, agentStartedAt = LONG_AGO): Observable<string> {
  return containerProbes(
    book$.pipe(concatMap(({ entries }) => [...entries.values()].flatMap(probedContainers))),
    given,
    agentStartedAt,
  ).pipe(map(brief));
}

describe('containerProbes', () => {
  it(
    'runs the probes of one container through its instances (the diagram of its doc comment)',
    marbles(({ hot, cold, expectObservable }) => {
      const spec = specOf({
        startupProbe: every(50),
        livenessProbe: every(5, { failureThreshold: 1 }),
        readinessProbe: every(50),
      });
      const liveness = ['-------(f|)', '-------(s|)'];
      const probe: ProbePorts['probe'] = ({ kind }) => {
        if (kind === 'startup') return cold('----(s|)', { s: good });
        if (kind === 'readiness') return cold('---(s|)', { s: good });
        return cold(liveness.shift() ?? '-', { s: good, f: bad });
      };
      const book$ = hot('    -a---------------x-b--------', {
        a: book({ spec, seen: [instance('a')] }),
        x: book({ spec, seen: [instance('a', { state: 'exited' })] }),
        b: book({ spec, seen: [instance('b'), instance('a', { state: 'exited' })] }),
      });
      const expected = '     -n---s--r---d----x-N---S--R-';
      expectObservable(probing(book$, ports(probe)), '^---------------------------!').toBe(expected, {
        n: 'a suf',
        s: 'a ssf+',
        r: 'a sss+!',
        d: 'a fss+! Liveness probe failed: no',
        x: 'a fss',
        N: 'b suf',
        S: 'b ssf+',
        R: 'b sss+!',
      });
    }),
  );

  it(
    'liveness and readiness are not asked before the startup probe has succeeded, and the startup probe never after it',
    marbles(({ hot, expectObservable, flush }) => {
      const asked: string[] = [];
      const spec = specOf({ startupProbe: every(4), livenessProbe: every(4), readinessProbe: every(4) });
      const script = answering({ startup: [bad, bad, good] });
      const probe: ProbePorts['probe'] = (target, given) => {
        asked.push(target.kind);
        return script(target, given);
      };
      const book$ = hot('r', { r: book({ spec, seen: [instance('i')] }) });
      const expected = '    (nf)f---(sr)';
      expectObservable(probing(book$, ports(probe)), '^---------!').toBe(expected, {
        n: 'i suf',
        f: 'i suf Startup probe failed: no',
        s: 'i ssf+',
        r: 'i sss+!',
      });
      flush();
      expect(asked).toEqual(['startup', 'startup', 'startup', 'liveness', 'readiness']);
    }),
  );

  it(
    'readiness is asked at once when a container has started, whatever its period',
    marbles(({ hot, cold, expectObservable }) => {
      const spec = specOf({ startupProbe: every(30_000), readinessProbe: every(60_000) });
      const book$ = hot('  w--r----', { w: book({ spec }), r: book({ spec, seen: [instance('i')] }) });
      const answer$ = cold('--(s|)', { s: good });
      const expected = '   ---n-s-r';
      expectObservable(
        probing(
          book$,
          ports(() => answer$),
        ),
        '^-------!',
      ).toBe(expected, {
        n: 'i suf',
        s: 'i ssf+',
        r: 'i sss+!',
      });
    }),
  );

  it(
    'after a liveness failure nothing is asked until the container is another one',
    marbles(({ hot, expectObservable }) => {
      const spec = specOf({ livenessProbe: every(4, { failureThreshold: 1 }) });
      const book$ = hot('    a---------------b-------', {
        a: book({ spec, seen: [instance('a')] }),
        b: book({ spec, seen: [instance('b'), instance('a', { state: 'exited' })] }),
      });
      const expected = '     (nd)------------(ND)----';
      expectObservable(
        probing(
          book$,
          ports(() => of(bad)),
        ),
        '^-----------------------!',
      ).toBe(expected, {
        n: 'a sss+!',
        d: 'a fss+! Liveness probe failed: no',
        N: 'b sss+!',
        D: 'b fss+! Liveness probe failed: no',
      });
    }),
  );

  it(
    'a question is let go of at once when the container that was asked has ended',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const spec = specOf({ livenessProbe: every(20) });
      const answer$ = cold<typeof good>('-');
      const book$ = hot('    r----x--', {
        r: book({ spec, seen: [instance('i')] }),
        x: book({ spec, seen: [instance('i', { state: 'exited' })] }),
      });
      expectObservable(
        probing(
          book$,
          ports(() => answer$),
        ),
      ).toBe('n----x', { n: 'i sss+!', x: 'i sss' });
      expectSubscriptions(answer$.subscriptions).toBe('^----!');
    }),
  );

  it(
    'stops liveness and startup when the pod is being ended, and goes on with readiness',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const alive: PodSketch = {
        spec: specOf({ livenessProbe: every(4), readinessProbe: every(4) }),
        seen: [instance('i')],
      };
      const live$ = cold('   -(s|)', { s: good });
      const ready = ['-(s|)', '-(s|)', '-(f|)'];
      const ready$ = (): Observable<typeof good> => cold(ready.shift() ?? '-', { s: good, f: bad });
      const book$ = hot('    r-----t----------', {
        r: book(alive),
        t: book({ ...alive, phase: 'terminating' }),
      });
      const expected = '     nr-------f-------';
      const probe: ProbePorts['probe'] = ({ kind }) => (kind === 'liveness' ? live$ : ready$());
      expectObservable(probing(book$, ports(probe)), '^----------------!').toBe(expected, {
        n: 'i ssf+',
        r: 'i sss+!',
        f: 'i sss+! Readiness probe failed: no',
      });
      expectSubscriptions(live$.subscriptions).toBe(['^!', '----^!']);
    }),
  );

  it(
    'does not begin with liveness in a pod that is being ended already',
    marbles(({ hot, expectObservable }) => {
      const spec = specOf({ livenessProbe: every(4, { failureThreshold: 1 }) });
      const book$ = hot('t', { t: book({ spec, seen: [instance('i')], phase: 'terminating' }) });
      expectObservable(
        probing(
          book$,
          ports(() => of(bad)),
        ),
        '^--------!',
      ).toBe('n', { n: 'i sss+!' });
    }),
  );

  it(
    'what was known before the agent started holds for the same instance: a ready pod stays ready',
    marbles(({ hot, expectObservable }) => {
      const spec = specOf({ startupProbe: every(4), livenessProbe: every(4), readinessProbe: every(4) });
      const book$ = hot('    a-----b', {
        a: book({ spec, seen: [instance('a')] }),
        b: book({ spec, seen: [instance('b')] }),
      });
      const seed: ProbePorts['seed'] = (_uid, containerId) => (containerId === 'a' ? 'success' : undefined);
      expectObservable(
        probing(
          book$,
          ports(() => NEVER, { seed }),
        ),
        '^--------!',
      ).toBe('r-----n', {
        r: 'a sss+!',
        n: 'b suf',
      });
    }),
  );

  it(
    'probes of a new agent are spread over their period, and those of later pods not',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<typeof good>('-');
      const spec = specOf({ livenessProbe: every(8) });
      const random = (): number => 0.5;
      const book$ = hot('    r', { r: book({ spec, seen: [instance('i')] }) });
      const late$ = hot('    ----------r', { r: book({ spec, seen: [instance('i')] }) });
      expectObservable(
        probing(
          book$,
          ports(() => answer$, { random }),
          0,
        ),
        '^---------!',
      ).toBe('n', { n: 'i sss+!' });
      expectObservable(
        probing(
          late$,
          ports(() => NEVER, { random }),
          -9,
        ),
        '^------------!',
      ).toBe('----------n', {
        n: 'i sss+!',
      });
      expectSubscriptions(answer$.subscriptions).toBe('----^-----!');
    }),
  );

  it(
    'a probe that is changed in place goes on with its results, and asks as the new one says',
    marbles(({ hot, expectObservable }) => {
      const seen = [instance('i')];
      const book$ = hot('    a------b--', {
        a: book({ spec: specOf({ readinessProbe: every(50) }), seen }),
        b: book({ spec: specOf({ readinessProbe: every(2, { failureThreshold: 1 }) }), seen }),
      });
      const expected = '     (nr)---sf-';
      expectObservable(probing(book$, ports(answering({ readiness: [good, bad] }))), '^---------!').toBe(expected, {
        n: 'i ssf+',
        r: 'i sss+!',
        s: 'i sss+!',
        f: 'i ssf+ Readiness probe failed: no',
      });
    }),
  );

  it(
    'a probe asks the address that the pod has at that moment',
    marbles(({ hot, expectObservable, flush }) => {
      const asked: (string | undefined)[] = [];
      const spec = specOf({ livenessProbe: every(4) });
      const seen = [instance('i')];
      const book$ = hot('a-b', { a: book({ spec, seen, ips: [] }), b: book({ spec, seen, ips: ['10.0.0.9'] }) });
      const host$ = hot('a', { a: book({ spec: { ...spec, hostNetwork: true }, seen, ips: ['192.0.2.2'] }) });
      const probe: ProbePorts['probe'] = ({ podIp }) => {
        asked.push(podIp);
        return of(good);
      };
      expectObservable(probing(book$, ports(probe)), '^----!').toBe('n', { n: 'i sss+!' });
      expectObservable(probing(host$, ports(probe)), '^!').toBe('n', { n: 'i sss+!' });
      flush();
      expect(asked).toEqual([undefined, undefined, '10.0.0.9']);
    }),
  );
});
