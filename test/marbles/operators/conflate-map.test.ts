import {
  concat,
  defer,
  delay,
  EMPTY,
  finalize,
  map,
  NEVER,
  of,
  Subject,
  take,
  tap,
  throwError,
  timer,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { conflateMap } from '../../../src/operators/conflate-map.ts';
import { marbles } from '../harness.ts';
import { unexpected } from './unexpected.ts';
import { randomArrivals } from './random-arrivals.ts';

/** Work that takes five frames and answers with its item; `K` cuts in on everything but another `K`. */
function fiveFrames(): OperatorFunction<string, string> {
  return conflateMap({
    work: (item: string) => of(item).pipe(delay(5)),
    recover: String,
    preempts: (arrival, running) => arrival === 'K' && running !== 'K',
  });
}

describe('conflateMap', () => {
  it(
    'does what its diagram shows',
    marbles(({ hot, expectObservable }) => {
      const source = hot('a--bc-----------e--|');
      const expected = '  -----a----c----------(e|)';
      expectObservable(source.pipe(conflateMap({ work: (x) => of(x).pipe(delay(5)), recover: String }))).toBe(expected);
    }),
  );

  it(
    'is silent while its source is',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-');
      expectObservable(source.pipe(fiveFrames())).toBe('-');
      expectSubscriptions(source.subscriptions).toBe('^');
    }),
  );

  it(
    'completes with an empty source',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--|').pipe(fiveFrames())).toBe('--|');
    }),
  );

  it(
    'completes when the last work has ended',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a|').pipe(fiveFrames())).toBe('------(a|)');
      expectObservable(cold('-ab|').pipe(fiveFrames())).toBe('------a----(b|)');
    }),
  );

  it(
    'passes an error of its source at once and cancels the work',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = cold(' -----z|');
      const source = cold('-a-#');
      expectObservable(source.pipe(conflateMap({ work: () => call, recover: String }))).toBe('---#');
      expectSubscriptions(call.subscriptions).toBe('-^-!');
    }),
  );

  it(
    'turns a failure of the work into an outcome and goes on',
    marbles(({ cold, expectObservable }) => {
      const source = cold('a---b------|');
      const work = (item: string) => (item === 'a' ? cold('--#') : cold('--y|'));
      expectObservable(source.pipe(conflateMap({ work, recover: (_error, item) => `lost ${item}` }))).toBe(
        '                  --x---y----|',
        { x: 'lost a', y: 'y' },
      );
    }),
  );

  it(
    'turns work that throws before it starts into an outcome',
    marbles(({ cold, expectObservable }) => {
      const work = (): Observable<string> => {
        throw new Error('no');
      };
      expectObservable(cold('-a-|').pipe(conflateMap({ work, recover: (error) => (error as Error).message }))).toBe(
        '-n-|',
        { n: 'no' },
      );
    }),
  );

  it(
    'errors when a rule of the lane throws',
    marbles(({ cold, expectObservable }) => {
      const boom = (): never => {
        throw new Error('defect');
      };
      const work = (item: string) => of(item).pipe(delay(5));
      const error = new Error('defect');
      expectObservable(cold('abc').pipe(conflateMap({ work, recover: String, fold: boom }))).toBe('--#', {}, error);
      expectObservable(cold('ab').pipe(conflateMap({ work, recover: String, preempts: boom }))).toBe('-#', {}, error);
      expectObservable(
        cold('a').pipe(conflateMap({ work: () => throwError(() => new Error('x')), recover: boom })),
      ).toBe('#', {}, error);
    }),
  );

  it(
    'cancels the work when nobody listens any more',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const call = cold(' -----z|');
      const source = hot('-ab--------|');
      expectObservable(source.pipe(conflateMap({ work: () => call, recover: String })), '^---!').toBe('----');
      expectSubscriptions(call.subscriptions).toBe('-^--!');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    }),
  );

  it(
    'passes every value of the work, and none of work that has none',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a------|').pipe(conflateMap({ work: () => cold('-x-y|'), recover: String }))).toBe(
        '                    -x-y---|',
      );
      expectObservable(cold('ab-|').pipe(conflateMap({ work: () => EMPTY, recover: String }))).toBe('---|');
    }),
  );

  it(
    'runs synchronous work one item after the other',
    marbles(({ cold, expectObservable }) => {
      const work = (item: string) => of(item, item.toUpperCase());
      expectObservable(cold('-(ab)---|').pipe(conflateMap({ work, recover: String }))).toBe('-(aAbB)-|');
    }),
  );

  describe('an arrival', () => {
    const at = (source: string, expected: string) =>
      marbles(({ hot, expectObservable }) => {
        expectObservable(hot(source).pipe(fiveFrames())).toBe(expected);
      });

    it('while nothing runs starts at once', at('-a----|', '------(a|)'));
    it('in the same frame as the first waits', at('-(ab)------|', '------a----(b|)'));
    it('during the work waits', at('-a--b------|', '------a----(b|)'));
    it('while another waits takes its place', at('-a-bc------|', '------a----(c|)'));
    it('in the frame in which the work ends runs next', at('a----b-----|', '-----a----b|'));
    it('after the end starts at once', at('a-----b----|', '-----a-----(b|)'));
    it('after the waiting one has started waits behind it', at('ab----c--------|', '-----a----b----(c|)'));
    it('that cuts in runs at once, and what it interrupts has no outcome', at('a--K----|', '--------(K|)'));
    it('that cuts in on a full slot is folded with it, and the result runs at once', at('ab-K----|', '--------(K|)'));
    it('that cuts in when nothing runs is an ordinary one', at('K----|', '-----(K|)'));
    it('that is as strong as the work in flight waits', at('K-K-------|', '-----K----(K|)'));
  });

  it(
    'unsubscribes work that is cut short before the next starts',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const call = cold(' -----z|');
      const source = hot('a--K------|');
      const result$ = source.pipe(
        conflateMap({ work: (item) => call.pipe(map(() => item)), recover: String, preempts: (item) => item === 'K' }),
      );
      expectObservable(result$).toBe('--------K-|');
      expectSubscriptions(call.subscriptions).toBe(['^--!', '---^-----!']);
    }),
  );

  it(
    'runs what the fold made of a waiting item and one that cuts in',
    marbles(({ hot, expectObservable }) => {
      const source = hot('ab-K----|');
      const result$ = source.pipe(
        conflateMap({
          work: (item: string) => of(item).pipe(delay(5)),
          recover: String,
          fold: (waiting, arrival) => waiting + arrival,
          preempts: (arrival) => arrival === 'K',
        }),
      );
      expectObservable(result$).toBe('--------(x|)', { x: 'bK' });
    }),
  );

  it(
    'lets the work see what waits',
    marbles(({ hot, expectObservable }) => {
      const source = hot('  a--bc-----------|');
      const expected = '    -----x----y-----|';
      const work = (item: string, waiting: () => string | undefined) =>
        timer(5).pipe(map(() => `${item} before ${waiting() ?? 'nothing'}`));
      expectObservable(source.pipe(conflateMap({ work, recover: String }))).toBe(expected, {
        x: 'a before c',
        y: 'c before nothing',
      });
    }),
  );

  it(
    'tells when it falls idle, and only then',
    marbles(({ hot, expectObservable }) => {
      const source = hot('  ab----------c---');
      const expected = '    ----------i------i';
      const idle = new Subject<string>();
      const result$ = source.pipe(
        conflateMap({
          work: (item: string) => of(item).pipe(delay(5)),
          recover: String,
          onIdle: () => {
            idle.next('i');
          },
        }),
      );
      expectObservable(idle).toBe(expected);
      expectObservable(result$).toBe('-----a----b------c');
    }),
  );

  describe('with a source that its own results feed', () => {
    it('runs what synchronous work brings in after the work that brought it', () => {
      const source = new Subject<number>();
      const log: string[] = [];
      source
        .pipe(
          conflateMap({
            work: (n: number) => concat(of(`${n} first`), of(`${n} last`)),
            recover: String,
          }),
          tap((line) => log.push(line)),
        )
        .subscribe({
          next: (line) => {
            if (line === '1 first') source.next(2);
          },
          error: unexpected,
        });
      source.next(1);
      expect(log).toEqual(['1 first', '1 last', '2 first', '2 last']);
    });

    it('goes round a hundred times without overlap', () => {
      const source = new Subject<number>();
      let running = 0;
      const seen: number[] = [];
      source
        .pipe(
          conflateMap({
            work: (n: number) =>
              defer(() => {
                expect(running).toBe(0);
                running += 1;
                return of(n).pipe(
                  finalize(() => {
                    running -= 1;
                  }),
                );
              }),
            recover: () => -1,
          }),
          take(100),
        )
        .subscribe({
          next: (n) => {
            seen.push(n);
            source.next(n + 1);
          },
          error: unexpected,
        });
      source.next(0);
      expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
    });

    it('lets synchronous work be cut short by what it causes', () => {
      const source = new Subject<string>();
      const log: string[] = [];
      source
        .pipe(
          conflateMap({
            work: (item: string) => concat(of(`${item} first`), of(`${item} last`), item === 'K' ? EMPTY : NEVER),
            recover: String,
            preempts: (arrival) => arrival === 'K',
          }),
        )
        .subscribe({
          next: (line) => {
            log.push(line);
            if (line === 'a first') source.next('K');
          },
          error: unexpected,
        });
      source.next('a');
      expect(log).toEqual(['a first', 'K first', 'K last']);
    });
  });

  it('never overlaps, loses nothing and ends with the newest, whatever arrives when', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      marbles(({ cold, expectObservable, flush }) => {
        const { diagram, count } = randomArrivals(seed, 400);
        let running = 0;
        const folded = new Set<number>();
        let arrived = 0;

        const source$ = cold(diagram).pipe(map(() => [arrived++]));
        const result$ = source$.pipe(
          conflateMap<number[], number[]>({
            work: (items) =>
              defer(() => {
                running += 1;
                expect(running).toBe(1);
                for (const item of items) folded.add(item);
                const length = (items[0] ?? 0) % 7;
                return (length === 0 ? of(items) : of(items).pipe(delay(length))).pipe(
                  finalize(() => {
                    running -= 1;
                  }),
                );
              }),
            recover: () => [],
            fold: (waiting, arrival) => [...waiting, ...arrival],
            preempts: ([arrival = 0]) => arrival % 5 === 0,
          }),
        );
        expectObservable(result$, '^ 1s !');
        flush();

        expect(running).toBe(0);
        expect([...folded]).toEqual(Array.from({ length: count }, (_, n) => n));
      })();
    }
  });
});
