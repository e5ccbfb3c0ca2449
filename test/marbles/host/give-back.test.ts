import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { giveBack } from '../../../src/host/machine/give-back.ts';
import { marbles } from '../harness.ts';

const MIB = 1024 * 1024;

/**
 * A heap in which so many MiB more are held whenever it is looked at a while later, of which a collection gives back what
 * `gives` says: all, or nothing at first.
 */
function heap(growth: number, gives: (nth: number) => boolean = () => true) {
  const collected: number[] = [];
  let [held, lastAt] = [10 * MIB, 0];
  return {
    collected,
    ports: {
      held: () => {
        if (asyncScheduler.now() > lastAt + 3_000) held += growth;
        lastAt = asyncScheduler.now();
        return held;
      },
      used: () => 10 * MIB,
      collect: () => {
        collected.push(asyncScheduler.now());
        if (gives(collected.length)) held = 10 * MIB;
      },
    },
  };
}

describe('giveBack', () => {
  it(
    'collects once it is calm after a burst, and again while little was given back (the diagram of its doc comment)',
    marbles(({ hot, expectObservable, flush }) => {
      const { collected, ports } = heap(50 * MIB, (nth) => nth !== 1);
      const activity$ = hot('-aaa-a 30s a 5s a 10s |');
      expectObservable(giveBack(activity$, ports)).toBe('------ 30s - 5s - 10s |');
      flush();
      expect(collected).toEqual([5_005, 7_005, 35_006, 40_007]);
    }),
  );

  it(
    'gives up where nothing is given back, until the next burst',
    marbles(({ hot, flush }) => {
      const { collected, ports } = heap(50 * MIB, () => false);
      giveBack(hot('a 29999ms a 30s |'), ports).subscribe();
      flush();
      expect(collected).toEqual([5_000, 7_000, 9_000, 35_000, 37_000, 39_000]);
    }),
  );

  it(
    'leaves a heap alone that has hardly grown since the last time',
    marbles(({ hot, flush }) => {
      const { collected, ports } = heap(7 * MIB);
      giveBack(hot('-a 10s a 10s a 10s |'), ports).subscribe();
      flush();
      expect(collected).toEqual([5_001]); // what the start has left
    }),
  );
});
