import { describe, it } from 'vitest';
import type { Eviction } from '../../../../src/model/restart/eviction.ts';
import type { Entry, PodBook } from '../../../../src/streams/book/pod-book.ts';
import { returns } from '../../../../src/streams/eviction/returns.ts';
import { marbles } from '../../harness.ts';
import { book } from '../probes/books.ts';

function awaited(eviction: Eviction, isOut?: true): PodBook {
  const empty = book({ spec: { containers: [] }, phase: 'waiting' });
  const entries = [...empty.entries].map(([uid, entry]) => {
    const waiting = { ...entry, phase: 'waiting', eviction, ...(isOut ? { isOut } : {}) } as Entry;
    return [uid, waiting] as const;
  });
  return { ...empty, entries: new Map(entries) };
}

const until = (time: number, delay = 4): Eviction => ({ message: '', delay, until: time });

describe('returns', () => {
  it(
    'does what the diagram of its doc comment shows',
    marbles(({ cold, expectObservable }) => {
      const e = awaited(until(5), true);
      const f = awaited(until(16), true);
      const book$ = cold('  -e-------x--f--------', { e, x: book(), f });
      expectObservable(returns(book$)).toBe('-----u----------u----');
    }),
  );

  it(
    'tells nothing of a pod that goes while it waits, nor of one that is back',
    marbles(({ cold, expectObservable }) => {
      const e = awaited(until(5), true);
      expectObservable(returns(cold('-e-x----', { e, x: book() }))).toBe('--------');
      expectObservable(returns(cold('-e-b----', { e, b: awaited(until(5)) }))).toBe('--------');
    }),
  );

  it(
    'counts on while other pages are turned, and is at once where the time has passed',
    marbles(({ cold, expectObservable }) => {
      const eviction = until(5);
      const [e, f] = [awaited(eviction, true), awaited(eviction, true)];
      expectObservable(returns(cold('-e-f---', { e, f }))).toBe('-----u-');
      expectObservable(returns(cold('---p---', { p: awaited(until(1), true) }))).toBe('---u---');
    }),
  );

  it(
    'waits no longer than the whole wait, though the clock was set back',
    marbles(({ cold, expectObservable }) => {
      expectObservable(returns(cold('-e------', { e: awaited(until(5_000, 3), true) }))).toBe('----u---');
    }),
  );
});
