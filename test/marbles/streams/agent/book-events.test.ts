import { EMPTY, map, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { NO_OBJECTS } from '../../../../src/model/objects/object-set.ts';
import { bookEvents, feedback } from '../../../../src/streams/agent/book-events.ts';
import type { BookEvent } from '../../../../src/streams/book/pod-book.ts';
import type { RuntimeState } from '../../../../src/streams/runtime-state/runtime-state.ts';
import type { PodOutcome } from '../../../../src/streams/workers/pod-work.ts';
import { observed, pod, UID } from '../../fakes.ts';
import { marbles } from '../../harness.ts';
import { unexpected } from '../../operators/unexpected.ts';

type World = Parameters<typeof bookEvents>[0];
type Heard = Parameters<typeof bookEvents>[1];

const QUIET: World = { batch$: NEVER, objects$: NEVER, allSeen$: NEVER, drain$: NEVER };
const SILENT: Heard = { runtime$: NEVER, snapshot$: NEVER, sighting$: NEVER, recovered$: NEVER };

const LETTERS: Readonly<Record<BookEvent['kind'], string>> = {
  changes: 'c',
  objects: 'b',
  allSeen: 'a',
  snapshot: 's',
  sighting: 'g',
  probe: 'p',
  starting: 't',
  outcome: 'o',
  wake: 'w',
  runtimeReady: 'r',
  evict: 'k',
  return: 'k',
  drain: 'd',
};

function state(ready: boolean, networkReady = true): RuntimeState {
  return { ready, networkReady, message: '', name: 'containerd', version: '2' };
}

function synced(next: number, finished = false): PodOutcome {
  const work = { kind: 'sync', uid: UID, pod: pod(), probes: new Map(), why: '' } as const;
  return { kind: 'synced', uid: UID, work, observed: observed({}), waiting: new Map(), finished, next };
}

const lettersOf = map(({ kind }: BookEvent) => LETTERS[kind]);

describe('bookEvents', () => {
  it(
    'does what the diagram of its doc comment shows',
    marbles(({ hot, expectObservable }) => {
      const fed = feedback();
      const world: World = {
        ...QUIET,
        batch$: hot('  c----------------', { c: [] }),
        allSeen$: hot('-----------a-----', { a: true }),
        drain$: hot('  --------------d--'),
      };
      const heard: Heard = {
        ...SILENT,
        snapshot$: hot('-s---------------', { s: { revision: 1, pods: new Map() } }),
        sighting$: hot('------g----------', { g: { pod: observed({}) } }) as unknown as Heard['sighting$'],
        runtime$: hot(' --------r--------', { r: state(true) }),
      };
      hot('             ---o-------------', { o: synced(2) }).subscribe(fed.outcomes);
      const expected = 'cs-o-wg-r--a--d--';
      expectObservable(bookEvents(world, heard, fed).pipe(lettersOf)).toBe(expected);
    }),
  );

  it(
    'lets a newer outcome name another time, and one that has finished name none',
    marbles(({ hot, expectObservable }) => {
      const fed = feedback();
      hot('            n--n---f------', { n: synced(5), f: synced(5, true) }).subscribe(fed.outcomes);
      const expected = 'o--o---o------';
      expectObservable(bookEvents(QUIET, SILENT, fed).pipe(lettersOf)).toBe(expected);
    }),
  );

  it(
    'tells that the runtime is ready when its network is too, and anew when it was not meanwhile',
    marbles(({ hot, expectObservable }) => {
      const runtime$ = hot('nrr-d-r', { n: state(true, false), r: state(true), d: state(false) });
      const recovered$ = hot('----------x');
      const expected = '    -r----r---r';
      expectObservable(bookEvents(QUIET, { ...SILENT, runtime$, recovered$ }, feedback()).pipe(lettersOf)).toBe(
        expected,
      );
    }),
  );

  it(
    'tells of the sources and of a drain once, and of objects only when they change',
    marbles(({ hot, expectObservable }) => {
      const world: World = {
        ...QUIET,
        allSeen$: hot('f-a-a---', { f: false, a: true }),
        drain$: hot('  -----d-d'),
        objects$: hot('o--o----', { o: NO_OBJECTS }),
      };
      const expected = '  --ab-d--';
      expectObservable(bookEvents(world, SILENT, feedback()).pipe(lettersOf)).toBe(expected);
    }),
  );

  it('hears what was fed back, of a container without probes any more nothing', () => {
    const fed = feedback();
    const told: string[] = [];
    const heard = bookEvents(QUIET, SILENT, fed).subscribe({
      next: ({ kind }) => told.push(kind),
      error: unexpected,
    });
    fed.starts.next({ kind: 'starting', uid: UID, container: 'main' });
    fed.findings.next({ kind: 'ended', uid: UID, container: 'main' } as never);
    fed.findings.next({ kind: 'found', uid: UID, container: 'main', findings: {} } as never);
    fed.kills.next({ kind: 'evict', uid: UID, message: 'it takes too much' });
    heard.unsubscribe();
    expect(told).toEqual(['starting', 'probe', 'evict']);
  });

  it(
    'ends when all have ended',
    marbles(({ cold, expectObservable }) => {
      const fed = feedback();
      for (const subject of Object.values(fed)) (subject as { complete: () => void }).complete();
      const world: World = { batch$: cold('--|'), objects$: EMPTY, allSeen$: of(false), drain$: EMPTY };
      const heard: Heard = { runtime$: EMPTY, snapshot$: EMPTY, sighting$: EMPTY, recovered$: EMPTY };
      expectObservable(bookEvents(world, heard, fed)).toBe('--|');
    }),
  );
});
