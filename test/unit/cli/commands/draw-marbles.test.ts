import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawMarbles } from '../../../../src/cli/commands/draw-marbles.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { TraceEvent, TraceFact } from '../../../../src/streams/trace/trace-event.ts';

const WEB = { uid: 'u' as PodUid, name: 'web-n1', namespace: 'default' };
const DB = { uid: 'v' as PodUid, name: 'db-n1', namespace: 'data' };

function events(...facts: readonly (readonly [at: number, fact: TraceFact])[]): readonly TraceEvent[] {
  return facts.map(([at, fact], index) => ({ seq: index + 1, at, ...fact }));
}

/** The rows of a drawing without its axis and its legend. */
function rows(lines: readonly string[]): readonly string[] {
  return lines.slice(1, lines.indexOf(''));
}

/** The line of one stream, without its name. */
function track(lines: readonly string[], label: string): string {
  return (lines.find((line) => line.startsWith(`${label} `)) ?? '').slice(label.length).trim();
}

const hint = { kind: 'hint', pod: WEB } as const;

describe('drawMarbles', () => {
  it('draws the life of a pod as one row per stream, pod and call', () => {
    const told = events(
      [4_000, { kind: 'change', pod: WEB, op: 'add', source: 'file' }],
      [4_000, { kind: 'phase', pod: WEB, from: 'new', to: 'waiting' }],
      [4_000, { kind: 'phase', pod: WEB, from: 'waiting', to: 'syncing' }],
      [4_000, { kind: 'begin', pod: WEB, work: 'sync' }],
      [6_000, { kind: 'call', call: 'run_podsandbox', took: 2_000, outcome: 'done', pod: WEB }],
      [6_500, { kind: 'relist', took: 3, failed: false }],
      [6_600, { kind: 'probe', pod: WEB, container: 'c', probe: 'liveness', result: 'failed', took: 1 }],
      [7_000, { kind: 'call', call: 'create_container', took: 500, outcome: 'failed', pod: WEB, container: 'c' }],
      [7_200, { kind: 'problem', message: 'a.yaml:1:1: is wrong', mended: false }],
      [8_000, { kind: 'outcome', pod: WEB, work: 'sync', outcome: 'failed', took: 4_000 }],
      [8_500, hint],
      [8_600, { kind: 'sighting', pod: WEB, containers: [] }],
      [9_000, { kind: 'begin', pod: DB, work: 'terminate' }],
    );
    expect(drawMarbles(told, { now: 10_000, span: 10_000, columns: 80 })).toEqual([
      '                  -10s           -7.5s           -5s            -2.5s        now',
      'changes           ------------------------a-------------------------------------',
      'problems          --------------------------------------------x-----------------',
      'hints             ----------------------------------------------------o---------',
      'sightings         -----------------------------------------------------o--------',
      'relists           ----------------------------------------o---------------------',
      'probes            ----------------------------------------x---------------------',
      'phases            ------------------------ws------------------------------------',
      'outcomes          -------------------------------------------------x------------',
      'data/db-n1        -------------------------------------------------------t======',
      'web-n1            ------------------------s========================x------------',
      'create_container  ----------------------------------------===x------------------',
      'run_podsandbox    ------------------------=============o------------------------',
      '',
      'o done, x failed, / cut short, = under way; problems: x new, o mended',
      'changes: add, update, remove, delete, c reconcile, o of an object',
      'phases: preparing, waiting, refused, syncing, finished, terminating, ended, gone',
      'pods: prepare, sync, terminate, clean up; outcomes: as phases, c cleaned up',
    ]);
  });

  it.each([
    ['marks what happened now on its last column', [[10_000, hint]], '-------------------o'],
    ['leaves out what is older than the window', [[999, hint]], '--------------------'],
    ['leaves out what lies ahead of its clock', [[10_001, hint]], '--------------------'],
    [
      'makes one mark of equal ones in one place',
      [
        [5_500, hint],
        [5_501, hint],
      ],
      '----------o---------',
    ],
  ] as const)('%s', (_what, facts, expected) => {
    const lines = drawMarbles(events(...facts), { now: 10_000, span: 9_000, columns: 31 });
    expect(track(lines, 'hints')).toBe(expected);
  });

  it('moves what happened at once to the right, and at the right edge to the left', () => {
    const op = (name: 'add' | 'update' | 'remove') => ({ kind: 'change', pod: WEB, op: name, source: 'file' }) as const;
    const told = events([3_000, op('remove')], [3_000, op('add')], [9_999, op('add')], [9_999, op('update')]);
    const lines = drawMarbles(told, { now: 10_000, span: 10_000, columns: 31 });
    expect(track(lines, 'changes')).toBe('------ra----------au');
  });

  it('draws work that began before the window and goes on from edge to edge', () => {
    const lines = drawMarbles(events([1, { kind: 'begin', pod: WEB, work: 'sync' }]), {
      now: 60_000,
      span: 10_000,
      columns: 31,
    });
    expect(track(lines, 'web-n1')).toBe('='.repeat(20));
  });

  it('shows pods and calls only while something of them is in the window', () => {
    const told = events([1_000, { kind: 'call', call: 'version', took: 1, outcome: 'done' }]);
    expect(rows(drawMarbles(told, { now: 2_000, span: 5_000, columns: 80 }))).toHaveLength(9);
    expect(rows(drawMarbles(told, { now: 60_000, span: 5_000, columns: 80 }))).toHaveLength(8);
  });

  it('is never wider than it may be, whatever happened and however long names are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 30_000 }), anyFact()), { maxLength: 200 }),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1_000, max: 40_000 }),
        (facts, columns, span) => {
          const lines = drawMarbles(events(...inOrder(facts)), { now: 30_000, span, columns });
          expect(lines.filter((line) => line.length > columns)).toEqual([]);
        },
      ),
    );
  });

  it('keeps the order of what happened, and shows the newest of it', () => {
    const letters = { add: 'a', update: 'u', remove: 'r', delete: 'd', reconcile: 'c' } as const;
    const op = fc.constantFrom(...(Object.keys(letters) as (keyof typeof letters)[]));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 20_000, max: 30_000 }), op), { maxLength: 60 }),
        fc.integer({ min: 20, max: 120 }),
        (changes, columns) => {
          const told = inOrder(changes);
          const lines = drawMarbles(
            events(...told.map(([at, each]) => [at, { kind: 'change', pod: WEB, op: each, source: 'file' }] as const)),
            { now: 30_000, span: 10_000, columns },
          );
          const shown = (lines.find((line) => line.startsWith('changes')) ?? '')
            .slice('changes'.length)
            .replace(/[-\s]/g, '');
          const all = told.map(([, each]) => letters[each]);
          expect(isSubsequence(Array.from(shown), all)).toBe(true);
          expect(shown.at(-1)).toBe(all.at(-1));
        },
      ),
    );
  });
});

function inOrder<T>(facts: readonly (readonly [number, T])[]): readonly (readonly [number, T])[] {
  return facts.toSorted(([a], [b]) => a - b);
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const letter of whole) if (letter === part[at]) at++;
  return at === part.length;
}

function anyFact(): fc.Arbitrary<TraceFact> {
  const pod = fc
    .record({ name: fc.stringMatching(/^[a-z0-9-]{0,60}$/), namespace: fc.constantFrom('default', 'kube-system') })
    .map((each) => ({ uid: 'u' as PodUid, ...each }));
  const took = fc.integer({ min: 0, max: 50_000 });
  return fc.oneof(
    fc.record({ kind: fc.constant('hint' as const), pod }),
    fc.record({
      kind: fc.constant('begin' as const),
      pod,
      work: fc.constantFrom('sync' as const, 'terminate' as const),
    }),
    fc.record({
      kind: fc.constant('outcome' as const),
      pod,
      work: fc.constant('sync' as const),
      outcome: fc.constantFrom('synced' as const, 'failed' as const, 'cut' as const),
      took,
    }),
    fc.record({
      kind: fc.constant('call' as const),
      call: fc.constantFrom('run_podsandbox', 'list_containers', 'a_call_with_a_very_long_name_that_nobody_has'),
      took,
      outcome: fc.constantFrom('done' as const, 'failed' as const, 'cut' as const),
    }),
    fc.record({ kind: fc.constant('relist' as const), took, failed: fc.boolean() }),
  );
}
