import { concatMap, ignoreElements, map, merge, take, tap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { TraceEvent, TraceFact } from '../../../../src/streams/trace/trace-event.ts';
import { traceLog, type TraceLog } from '../../../../src/streams/trace/trace-log.ts';
import { marbles } from '../../harness.ts';

/** A fact that can be told from others by its number. */
function fact(pods: number): TraceFact {
  return { kind: 'snapshot', pods };
}

function letterOf(event: TraceEvent): string {
  if (event.kind === 'gap') return `${event.lost} lost`;
  return event.kind === 'snapshot' ? ('-abcdefgh'[event.pods] ?? '?') : '?';
}

function seqs(log: TraceLog, count: number, upTo?: number): readonly (number | string)[] {
  return log.after(count, upTo).map((event) => (event.kind === 'gap' ? `${event.lost} lost` : event.seq));
}

describe('traceLog', () => {
  it(
    'tells what is kept, then each event as it happens',
    marbles(({ hot, expectObservable }) => {
      const records = 'a-b-c-d-----e-';
      const trace = '  -------(cd)-e-'; //  subscribed after d
      const log = traceLog(2);
      const record$ = hot(records).pipe(
        tap((letter) => {
          log.record(fact('-abcdefgh'.indexOf(letter)));
        }),
        ignoreElements(),
      );
      const late$ = timer(7).pipe(concatMap(() => log.trace$.pipe(map(letterOf))));
      expectObservable(merge(record$, late$)).toBe(trace);
    }),
  );

  it(
    'gives every event its time and a number without holes',
    marbles(({ hot, flush }) => {
      const log = traceLog(10);
      hot('a--b-c').subscribe({
        next: (letter) => {
          log.record(fact('-abc'.indexOf(letter)));
        },
        error: fail,
      });
      flush();
      expect(log.after(0)).toEqual([
        { seq: 1, at: 0, ...fact(1) },
        { seq: 2, at: 3, ...fact(2) },
        { seq: 3, at: 5, ...fact(3) },
      ]);
    }),
  );

  it('keeps as many events as it has room for, and counts what a reader has missed', () => {
    const log = traceLog(3);
    for (let n = 1; n <= 8; n++) log.record(fact(n));
    expect(seqs(log, 0)).toEqual(['5 lost', 6, 7, 8]);
    expect(seqs(log, 4)).toEqual(['1 lost', 6, 7, 8]);
    expect(seqs(log, 5)).toEqual([6, 7, 8]);
    expect(seqs(log, 6, 7)).toEqual([7]);
    expect(seqs(log, 8)).toEqual([]);
  });

  it('hands out the facts themselves to nobody but who asks: with nobody there, only the fact is kept', () => {
    const log = traceLog(2);
    const facts = [fact(1), fact(2), fact(3)];
    let read = 0;
    for (const one of facts)
      log.record(
        new Proxy(one, {
          ownKeys: (target) => {
            read++;
            return Reflect.ownKeys(target);
          },
        }),
      );
    expect(read).toBe(0);
    log.after(0);
    expect(read).toBe(2);
  });

  it('lets one listener leave without harm to the others, and begins for each with what is kept then', () => {
    const log = traceLog(4);
    const early: string[] = [];
    const late: string[] = [];
    log.record(fact(1));
    log.trace$.pipe(take(2)).subscribe({ next: (event) => early.push(letterOf(event)), error: fail });
    log.record(fact(2));
    log.trace$.subscribe({ next: (event) => late.push(letterOf(event)), error: fail });
    for (const n of [3, 4, 5]) {
      log.record(fact(n));
    }
    expect(early).toEqual(['a', 'b']);
    expect(late).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

function fail(error: unknown): never {
  throw error;
}
