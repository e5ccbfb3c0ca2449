import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { giveBack } from '../../../src/host/machine/give-back.ts';
import { marbles } from '../harness.ts';

const MIB = 1024 * 1024;

/** A heap that has grown by so much whenever it is looked at a while later, and that notes when it is collected. */
function heap(growth: number) {
  const collected: number[] = [];
  let lastAt = 0;
  return {
    collected,
    ports: {
      held: () => 10 * MIB + (asyncScheduler.now() > lastAt ? growth : 0),
      collect: () => {
        lastAt = asyncScheduler.now();
        collected.push(lastAt);
      },
    },
  };
}

describe('giveBack', () => {
  it(
    'collects once it is calm after a burst (the diagram of its doc comment)',
    marbles(({ hot, expectObservable, flush }) => {
      const { collected, ports } = heap(50 * MIB);
      const activity$ = hot('-aaa-a 30s a 5s a 10s |');
      expectObservable(giveBack(activity$, ports)).toBe('------ 30s - 5s - 10s |');
      flush();
      expect(collected).toEqual([6_005, 41_007]);
    }),
  );

  it(
    'leaves a heap alone that has hardly grown since the last time',
    marbles(({ hot, flush }) => {
      const { collected, ports } = heap(11 * MIB);
      giveBack(hot('-a 10s a 10s a 10s |'), ports).subscribe();
      flush();
      expect(collected).toEqual([6_001]); // what the start has left
    }),
  );
});
