import { concat, defer, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { NO_MEMORY, type PodMemory } from '../../../../src/model/pod-memory.ts';
import { fullName, type PodStatus, type PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { checkpoints, type Checkpoint, type CheckpointStore } from '../../../../src/streams/checkpoints/checkpoints.ts';
import type { PodReport } from '../../../../src/streams/workers/pod-work.ts';
import { observed } from '../../fakes.ts';
import { marbles } from '../../harness.ts';

const UID = 'u-1' as PodUid;
const running: PodStatus = { phase: 'Running' };
const ended: PodStatus = { phase: 'Succeeded' };

/** A book in which every source was heard and the runtime was seen, with the pods whose uids and statuses are given. */
function bookOf(statuses: Readonly<Record<string, PodStatus | undefined>>, more: Partial<PodBook> = {}): PodBook {
  const entries = Object.entries(statuses).map(([name, status]): Entry => {
    const uid = name as PodUid;
    const of = { uid, name, namespace: 'default' };
    return {
      uid,
      of,
      name: fullName(name, 'default'),
      phase: 'terminating',
      grace: 30,
      why: '',
      waiting: new Map(),
      probes: new Map(),
      ...(status ? { status } : {}),
    };
  });
  const empty = emptyBook({ runtimeName: 'fake', hostIps: [], update: 'prepare', statuses: new Map() });
  const byUid = new Map(entries.map((entry) => [entry.uid, entry]));
  return { ...empty, allSeen: true, runtimeSeen: true, entries: byUid, ...more };
}

const backoff = (delay: number): PodMemory => ({
  ...NO_MEMORY,
  restarts: new Map([['main', { key: 'k', backoff: { delay, since: 5 } }]]),
});

function outcome(memory: PodMemory): PodReport {
  const of = { uid: UID, name: 'u-1', namespace: 'default' };
  const work = { kind: 'cleanUp', uid: UID, of } as const;
  return { kind: 'outcome', uid: UID, outcome: { kind: 'ended', uid: UID, work, observed: observed({}) }, memory };
}

const CRASHED = { uid: UID, version: 1, restarts: { main: { key: 'k', backoff: { delay: 10, since: 5 } } } } as const;

/** A store that notes what it is told: `save u-1 Running 20`, with the delay of the back-off, and `remove u-1`. */
function store(log: string[], answers: Partial<CheckpointStore> = {}): CheckpointStore {
  const tell = ({ uid, status, restarts = {} }: Checkpoint): string =>
    ['save', uid, status?.phase, restarts['main']?.backoff.delay].filter((part) => part !== undefined).join(' ');
  const noted =
    <Request>(
      say: (request: Request) => string,
      answer: (request: Request) => Observable<undefined>,
    ): ((request: Request) => Observable<undefined>) =>
    (request) =>
      defer(() => {
        log.push(say(request));
        return answer(request);
      });
  const done = (): Observable<undefined> => of(undefined);
  return {
    load: () => of([]),
    save: noted(tell, answers.save ?? done),
    remove: noted((uid) => `remove ${uid}`, answers.remove ?? done),
  };
}

const books = {
  p: bookOf({ [UID]: running }),
  q: bookOf({ [UID]: ended }),
  r: bookOf({}),
};

describe('checkpoints', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const book$ = hot(' --p--q------- 1200ms r---', books);
      const save = cold<undefined>('  ----|');
      const remove = cold<undefined>('-|');
      const kept$ = checkpoints({ book$, report$: NEVER }, store([], { save: () => save, remove: () => remove }));
      expectObservable(kept$, '------------- 1300ms !').toBe('-');
      expectSubscriptions(save.subscriptions).toBe(['--^---!', '-- 1000ms ^---!']);
      expectSubscriptions(remove.subscriptions).toBe('------------- 1200ms ^!');
    }),
  );

  it(
    'writes the newest of what came while it was writing, once',
    marbles(({ cold, hot, expectObservable, flush }) => {
      const log: string[] = [];
      const book$ = hot('pqpq', books);
      const kept$ = checkpoints({ book$, report$: NEVER }, store(log, { save: () => cold('-----|') }));
      expectObservable(kept$, '1500ms !').toBe('-');
      flush();
      expect(log).toEqual(['save u-1 Running', 'save u-1 Succeeded']);
    }),
  );

  it(
    'writes nothing when nothing changes',
    marbles(({ hot, expectObservable, flush }) => {
      const log: string[] = [];
      const book$ = hot('p 500ms p 500ms p', { p: books.p });
      expectObservable(checkpoints({ book$, report$: NEVER }, store(log)), '2s !').toBe('-');
      flush();
      expect(log).toEqual(['save u-1 Running']);
    }),
  );

  it(
    'writes what is heard in one step once, whichever is heard first',
    marbles(({ hot, expectObservable, flush }) => {
      const log: string[] = [];
      const book$ = hot('  p 1999ms q', books);
      const report$ = hot('p 1999ms b', { p: outcome(backoff(10)), b: outcome(backoff(20)) });
      expectObservable(checkpoints({ book$, report$ }, store(log)), '9s !').toBe('-');
      flush();
      expect(log).toEqual(['save u-1 Running 10', 'save u-1 Succeeded 20']);
    }),
  );

  describe('lets a pod of which nothing runs yet wait', () => {
    const waiting = { ...books, w: bookOf({ [UID]: { phase: 'Pending' } }) };

    it(
      'until it runs, or its containers were given something: mostly it is written once',
      marbles(({ hot, expectObservable, flush }) => {
        const stories = [
          { events: 'w 3s p', reports: '-', line: 'save u-1 Running' },
          { events: 'w', reports: '- 3s a', line: 'save u-1 Pending 10' },
          { events: 'w 3s p', reports: '- 3s a', line: 'save u-1 Running 10' },
        ].map(({ events, reports, line }) => {
          const log: string[] = [];
          const report$ = hot(reports, { a: outcome(backoff(10)) });
          expectObservable(checkpoints({ book$: hot(events, waiting), report$ }, store(log)), '4s !').toBe('-');
          return { log, line };
        });
        flush();
        for (const { log, line } of stories) expect(log).toEqual([line]);
      }),
    );

    it(
      'for five seconds',
      marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
        const save = cold<undefined>('-|');
        const book$ = hot('w', waiting);
        expectObservable(checkpoints({ book$, report$: NEVER }, store([], { save: () => save })), '9s !').toBe('-');
        expectSubscriptions(save.subscriptions).toBe('5s ^!');
      }),
    );

    it(
      'and writes nothing where it goes meanwhile',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        const book$ = hot('w 999ms r', waiting);
        expectObservable(checkpoints({ book$, report$: NEVER }, store(log)), '9s !').toBe('-');
        flush();
        expect(log).toEqual(['remove u-1']);
      }),
    );

    it(
      'only for the first time: what was written of it is brought up to date as that of others',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        const again: PodStatus = { phase: 'Pending', reason: 'again' };
        const book$ = hot('p 1999ms w', { p: books.p, w: bookOf({ [UID]: again }) });
        expectObservable(checkpoints({ book$, report$: NEVER }, store(log)), '2500ms !').toBe('-');
        flush();
        expect(log).toEqual(['save u-1 Running', 'save u-1 Pending']);
      }),
    );
  });

  it(
    'keeps the back-off beside the status, and writes it when it changes',
    marbles(({ hot, expectObservable, flush }) => {
      const log: string[] = [];
      const first = backoff(10);
      const book$ = hot('  p', books);
      const report$ = hot('- 500ms a 500ms b 500ms c', {
        a: outcome(first),
        b: outcome({ ...first, failures: 1 }),
        c: outcome(backoff(20)),
      });
      expectObservable(checkpoints({ book$, report$ }, store(log)), '3s !').toBe('-');
      flush();
      expect(log).toEqual(['save u-1 Running', 'save u-1 Running 10', 'save u-1 Running 20']);
    }),
  );

  it(
    'keeps no back-off waiting: an agent that is killed has it on disk',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const book$ = hot('  p-q-------', books);
      const report$ = hot('----a-----', { a: outcome(backoff(10)) });
      const save = cold<undefined>('-|');
      expectObservable(checkpoints({ book$, report$ }, store([], { save: () => save })), '8ms !').toBe('-');
      expectSubscriptions(save.subscriptions).toBe(['^!', '----^!']);
    }),
  );

  it(
    'keeps no back-off waiting that came while a status was being written',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const book$ = hot('  p---------', books);
      const report$ = hot('-a--------', { a: outcome(backoff(10)) });
      const save = cold<undefined>('---|');
      expectObservable(checkpoints({ book$, report$ }, store([], { save: () => save })), '8ms !').toBe('-');
      expectSubscriptions(save.subscriptions).toBe(['^--!', '---^--!']);
    }),
  );

  it(
    'lets pods not wait for each other',
    marbles(({ cold, hot, expectObservable, flush }) => {
      const log: string[] = [];
      const book$ = hot('p', { p: bookOf({ 'u-1': running, 'u-2': ended }) });
      expectObservable(checkpoints({ book$, report$: NEVER }, store(log, { save: () => cold('-') })), '1s !').toBe('-');
      flush();
      expect(log).toEqual(['save u-1 Running', 'save u-2 Succeeded']);
    }),
  );

  it(
    'tells what could not be written, and writes what comes next',
    marbles(({ cold, hot, expectObservable, flush }) => {
      const log: string[] = [];
      const answers = [cold<undefined>('--#', {}, new Error('disk full')), cold<undefined>('-|')];
      const book$ = hot('p 500ms q', books);
      const save = (): Observable<undefined> => answers.shift() ?? NEVER;
      expectObservable(checkpoints({ book$, report$: NEVER }, store(log, { save })), '2s !').toBe('--f', {
        f: { uid: UID, message: 'disk full' },
      });
      flush();
      expect(log).toEqual(['save u-1 Running', 'save u-1 Succeeded']);
    }),
  );

  it(
    'tries again what could not be written, as it is by then, and what could not be removed',
    marbles(({ cold, hot, expectObservable, flush }) => {
      const log: string[] = [];
      const failures = [cold<undefined>('#', {}, 'full'), cold<undefined>('#', {}, 'full'), cold<undefined>('|')];
      const next = (): Observable<undefined> => failures.shift() ?? cold<undefined>('|');
      const answers = { save: next, remove: next };
      const book$ = hot('p 29999ms r', books);
      const f = { uid: UID, message: 'full' };
      expectObservable(checkpoints({ book$, report$: NEVER }, store(log, answers)), '60s !').toBe('f 9999ms f', { f });
      flush();
      expect(log).toEqual(['save u-1 Running', 'save u-1 Running', 'save u-1 Running', 'remove u-1']);
    }),
  );

  it(
    'tries again what failed in the very step in which it was asked for',
    marbles(({ hot, expectObservable, flush }) => {
      const log: string[] = [];
      const answers = [throwError(() => new Error('busy')), throwError(() => new Error('busy')), of(undefined)];
      const remove = (): Observable<undefined> => answers.shift() ?? of(undefined);
      const book$ = hot('p 4999ms r', books);
      const f = { uid: UID, message: 'busy' };
      expectObservable(checkpoints({ book$, report$: NEVER }, store(log, { remove })), '60s !').toBe('5s f 9999ms f', {
        f,
      });
      flush();
      expect(log).toEqual(['save u-1 Running', 'remove u-1', 'remove u-1', 'remove u-1']);
    }),
  );

  describe('goes on from what an earlier run kept', () => {
    const kept: readonly Checkpoint[] = [{ ...CRASHED, status: running }];

    it(
      'without writing it again',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        expectObservable(checkpoints({ book$: hot('p', books), report$: NEVER }, store(log), kept), '1s !').toBe('-');
        flush();
        expect(log).toEqual([]);
      }),
    );

    it(
      'with the back-off in every write, though no work has ended yet',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        expectObservable(checkpoints({ book$: hot('q', books), report$: NEVER }, store(log), kept), '1s !').toBe('-');
        flush();
        expect(log).toEqual(['save u-1 Succeeded 10']);
      }),
    );

    it(
      'and removes that of a pod which went while no agent ran, as soon as that is known',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        const seen: string[] = [];
        const book$ = concat(
          hot('a 500ms b 500ms c', {
            a: bookOf({}, { allSeen: false, runtimeSeen: false }),
            b: bookOf({}, { allSeen: false }),
            c: bookOf({}),
          }),
          NEVER,
        );
        const noting = store(log, {
          remove: () =>
            defer(() => {
              seen.push('removed');
              return of(undefined);
            }),
        });
        expectObservable(checkpoints({ book$, report$: NEVER }, noting, kept), '1s !').toBe('-');
        expectObservable(checkpoints({ book$, report$: NEVER }, noting, kept), '3s !').toBe('-');
        flush();
        expect(log).toEqual(['remove u-1']);
        expect(seen).toEqual(['removed']);
      }),
    );

    it(
      'and removes that of a pod of which there was a memory only',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        const book$ = hot('a 500ms a 500ms r', { a: bookOf({ [UID]: undefined }), r: books.r });
        const report$ = hot('- 200ms a', { a: outcome(backoff(20)) });
        expectObservable(checkpoints({ book$, report$ }, store(log)), '3s !').toBe('-');
        flush();
        expect(log).toEqual(['save u-1 20', 'remove u-1']);
      }),
    );

    it(
      'and removes that of a pod which was found running and is ended now',
      marbles(({ hot, expectObservable, flush }) => {
        const log: string[] = [];
        const book$ = hot('a 500ms r', { a: bookOf({ [UID]: undefined }, { allSeen: false }), r: books.r });
        expectObservable(checkpoints({ book$, report$: NEVER }, store(log), kept), '3s !').toBe('-');
        flush();
        expect(log).toEqual(['remove u-1']);
      }),
    );
  });
});
