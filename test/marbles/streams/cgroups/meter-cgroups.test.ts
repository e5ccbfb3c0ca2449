import { EMPTY, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { meterCgroups } from '../../../../src/streams/cgroups/meter-cgroups.ts';
import { DEAF, type Measured } from '../../../../src/streams/ports/meter.ts';
import { fakeCgroups } from '../../fakes.ts';
import { marbles } from '../../harness.ts';

describe('meterCgroups', () => {
  it(
    'measures what was made, what was set and what was removed, when it is done',
    marbles(({ cold, expectObservable, flush }) => {
      const measured: Measured[] = [];
      const cgroups = meterCgroups(
        fakeCgroups([], {
          apply: (path) => cold('---(a|)', { a: path === '/new' ? 'made' : 'set' }),
          remove: () => cold('---------(u|)', { u: undefined }),
        }),
        (one) => measured.push(one),
      );
      const all$ = merge(cgroups.apply('/new', {}), cgroups.apply('/old', {}), cgroups.remove('/old', 'kill'));
      expectObservable(all$).toBe('---(ms)--(u|)', { m: 'made', s: 'set', u: undefined });
      flush();
      expect(measured).toEqual([
        { kind: 'cgroup', operation: 'create', took: 3 },
        { kind: 'cgroup', operation: 'update', took: 3 },
        { kind: 'cgroup', operation: 'destroy', took: 9 },
      ]);
    }),
  );

  it(
    'measures nothing that failed, and hands the failure on',
    marbles(({ cold, expectObservable, flush }) => {
      const measured: Measured[] = [];
      const cgroups = meterCgroups(fakeCgroups([], { apply: () => cold('-#') }), (one) => measured.push(one));
      expectObservable(cgroups.apply('/a', {})).toBe('-#');
      flush();
      expect(measured).toEqual([]);
    }),
  );

  it('leaves cgroups as they are where nobody listens', () => {
    const cgroups = fakeCgroups([], { children: () => EMPTY });
    expect(meterCgroups(cgroups, DEAF)).toBe(cgroups);
  });
});
