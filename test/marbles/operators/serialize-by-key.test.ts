import { defer, delay, EMPTY, finalize, map, of, Subject, throwError, type OperatorFunction } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { serializeByKey } from '../../../src/operators/serialize-by-key.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';
import { randomArrivals } from './random-arrivals.ts';

interface Sync {
  readonly pod: string;
  readonly rev: number;
  readonly kill?: boolean;
}

const a: Sync = { pod: 'a', rev: 1 };
const b: Sync = { pod: 'a', rev: 2 };
const c: Sync = { pod: 'a', rev: 3 };
const k: Sync = { pod: 'a', rev: 4, kill: true };
const x: Sync = { pod: 'x', rev: 1 };
const f: Sync = { pod: 'a', rev: -1 };
const values = { a, b, c, k, x, f };

/** Every sync takes five frames; one of them can be made to fail, which yields `f`. */
function syncs({ failing }: { failing?: Sync } = {}): OperatorFunction<Sync, Sync> {
  return serializeByKey({
    key: (sync) => sync.pod,
    work: (sync) => (sync === failing ? throwError(() => new Error('cri is down')) : of(sync).pipe(delay(5))),
    recover: () => f,
    preempts: (arrival) => arrival.kill === true,
  });
}

describe('serializeByKey', () => {
  it(
    'does what its diagram shows',
    marbles(({ hot, expectObservable }) => {
      const source = hot('abcx-----------|');
      const expected = '  -----a--x-c----|';
      const work = (item: string) => of(item).pipe(delay(5));
      expectObservable(
        source.pipe(serializeByKey({ key: (item) => (item === 'x' ? 2 : 1), work, recover: String })),
      ).toBe(expected);
    }),
  );

  it(
    'is silent while its source is, and completes with an empty one',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold<Sync>('-').pipe(syncs())).toBe('-');
      expectObservable(cold<Sync>('--|').pipe(syncs())).toBe('--|');
    }),
  );

  it(
    'runs one item per key at a time and keeps only the newest waiting one',
    marbles(({ hot, expectObservable }) => {
      const source = hot('abc-------|', values);
      //                  -----a
      //                       -----c
      const expected = '  -----a----(c|)';
      expectObservable(source.pipe(syncs())).toBe(expected, values);
    }),
  );

  it(
    'runs different keys side by side',
    marbles(({ hot, expectObservable }) => {
      const source = hot('a-x-|', values);
      //                  -----a
      //                    -----x
      const expected = '  -----a-(x|)';
      expectObservable(source.pipe(syncs())).toBe(expected, values);
    }),
  );

  it(
    'does not lose an arrival that lands while the waiting one runs',
    marbles(({ hot, expectObservable }) => {
      const source = hot('ab----c---------|', values);
      //                  -----a
      //                       -----b
      //                            -----c
      const expected = '  -----a----b----c|';
      expectObservable(source.pipe(syncs())).toBe(expected, values);
    }),
  );

  it(
    'opens a new lane for an arrival in the frame in which the old one closes',
    marbles(({ hot, expectObservable }) => {
      const source = hot('a----b-----|', values);
      const expected = '  -----a----b|';
      expectObservable(source.pipe(syncs())).toBe(expected, values);
    }),
  );

  it(
    'lets a kill cancel the sync in flight, and leaves other lanes alone',
    marbles(({ hot, expectObservable }) => {
      const source = hot('ax-k------|', values);
      const expected = '  ------x-k-|';
      expectObservable(source.pipe(syncs())).toBe(expected, values);
    }),
  );

  it(
    'turns a failure into an outcome and keeps the lane alive',
    marbles(({ hot, expectObservable }) => {
      const source = hot('a---b-----|', values);
      //                      -----b
      const expected = '  f--------b|';
      expectObservable(source.pipe(syncs({ failing: a }))).toBe(expected, values);
    }),
  );

  it(
    'passes an error of its source at once and cancels every lane',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = cold('  -----z|');
      const source = cold('ax-#', values);
      expectObservable(source.pipe(serializeByKey({ key: ({ pod }) => pod, work: () => call, recover: String }))).toBe(
        '---#',
      );
      expectSubscriptions(call.subscriptions).toBe(['^--!', '-^-!']);
    }),
  );

  it(
    'cancels every lane when nobody listens any more',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const call = cold(' -----z|');
      const source = hot('ax---------|', values);
      const result$ = source.pipe(serializeByKey({ key: ({ pod }) => pod, work: () => call, recover: String }));
      expectObservable(result$, '^--!').toBe('---');
      expectSubscriptions(call.subscriptions).toBe(['^--!', '-^-!']);
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }),
  );

  it('runs synchronous work that feeds its own lane and opens others', () => {
    const source = new Subject<string>();
    const log: string[] = [];
    source.pipe(serializeByKey({ key: ([key]) => key, work: (item) => of(item), recover: String })).subscribe({
      next: (item) => {
        log.push(item);
        if (item === 'a1') {
          source.next('b1');
          source.next('a2');
          source.next('a3');
        }
      },
      error: unexpected,
    });
    source.next('a1');
    source.next('a4');
    expect(log).toEqual(['a1', 'b1', 'a3', 'a4']);
  });

  it('never runs two items of one key at once and loses none, whatever arrives when', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      marbles(({ cold, expectObservable, flush }) => {
        const { diagram, count } = randomArrivals(seed, 1_000);
        const running = new Map<number, number>();
        const done = new Set<number>();
        let arrived = 0;

        const work = (items: readonly number[]) =>
          defer(() => {
            const key = (items[0] ?? 0) % 3;
            running.set(key, (running.get(key) ?? 0) + 1);
            expect(running.get(key)).toBe(1);
            for (const item of items) done.add(item);
            return of(items).pipe(
              delay((items[0] ?? 0) % 5),
              finalize(() => running.delete(key)),
            );
          });
        const result$ = cold(diagram).pipe(
          map((): readonly number[] => [arrived++]),
          serializeByKey<readonly number[], number, readonly number[]>({
            key: ([first = 0]) => first % 3,
            work,
            recover: () => [],
            fold: (waiting, arrival) => [...waiting, ...arrival],
            preempts: ([first = 0]) => first % 11 === 0,
          }),
        );
        expectObservable(result$, '^ 2s !');
        flush();

        expect(running.size).toBe(0);
        expect(done.size).toBe(count);
      })();
    }
  });

  it('keeps nothing of a key that has fallen idle', async () => {
    const keys = 20_000;
    const refs: WeakRef<object>[] = [];
    const source = new Subject<object>();
    source
      .pipe(serializeByKey({ key: (item) => item, work: () => EMPTY, recover: () => undefined }))
      .subscribe({ error: unexpected });
    for (let n = 0; n < keys; n += 1) {
      const item = { n };
      refs.push(new WeakRef(item));
      source.next(item);
    }
    const { setFlagsFromString } = await import('node:v8');
    const { runInNewContext } = await import('node:vm');
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(10);
  });
});
