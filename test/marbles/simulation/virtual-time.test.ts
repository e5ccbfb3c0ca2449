import {
  asyncScheduler,
  interval,
  map,
  merge,
  of,
  subscribeOn,
  switchMap,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { virtualTime, type VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { unexpected } from '../operators/unexpected.ts';

/** What came when, in milliseconds since the beginning. */
function listen(
  time: VirtualTime,
  story$: Observable<unknown>,
): { readonly told: string[]; readonly stop: () => void } {
  const told: string[] = [];
  const subscription = story$.pipe(subscribeOn(time.scheduler)).subscribe({
    next: (value) => told.push(`${time.passed()} ${String(value)}`),
    complete: () => told.push(`${time.passed()} |`),
    error: unexpected,
  });
  return {
    told,
    stop: () => {
      subscription.unsubscribe();
    },
  };
}

describe('virtualTime', () => {
  it('stands still until it is told to pass, and then does what is due in order', () => {
    const time = virtualTime();
    const { told } = listen(time, merge(timer(20).pipe(map(() => 'b')), timer(10).pipe(map(() => 'a'))));
    expect(told).toEqual([]);
    time.passTo(15);
    expect(told).toEqual(['10 a']);
    expect(time.passed()).toBe(15);
    time.passToEnd();
    expect(told).toEqual(['10 a', '20 b', '20 |']);
  });

  it('does what is due at one moment in the order in which it was asked for', () => {
    const time = virtualTime();
    const { told } = listen(
      time,
      merge(
        timer(10).pipe(map(() => 1)),
        timer(5).pipe(switchMap(() => timer(5).pipe(map(() => 3)))),
        timer(10).pipe(map(() => 2)),
      ),
    );
    time.passToEnd();
    expect(told).toEqual(['10 1', '10 2', '10 3', '10 |']);
  });

  it('repeats intervals, and forgets what is cancelled', () => {
    const time = virtualTime();
    const { told } = listen(time, interval(10).pipe(take(3)));
    const cancelled = listen(time, timer(15));
    time.passTo(12);
    cancelled.stop();
    time.passToEnd();
    expect(told).toEqual(['10 0', '20 1', '30 2', '30 |']);
    expect(cancelled.told).toEqual([]);
    expect(time.passed()).toBe(30);
  });

  it('lets timers go on as before when somebody sets the clock', () => {
    const time = virtualTime(1_000);
    const { told } = listen(
      time,
      timer(10, 10).pipe(
        take(2),
        map(() => asyncScheduler.now()),
      ),
    );
    time.passTo(10);
    time.setClock(-500);
    time.passToEnd();
    expect(told).toEqual(['10 1010', '20 520', '20 |']);
  });

  it('leaves the time of everybody else alone', () => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- compared only
    const { now, schedule } = asyncScheduler;
    const time = virtualTime(5);
    listen(
      time,
      of(1).pipe(
        tap(() => {
          expect(asyncScheduler.now()).toBe(5);
        }),
      ),
    );
    time.passToEnd();
    expect(() => {
      time.within(() => {
        throw new Error('gone');
      });
    }).toThrow('gone');
    expect(asyncScheduler.now).toBe(now);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- compared only
    expect(asyncScheduler.schedule).toBe(schedule);
  });

  it('keeps the order of a hundred thousand timers of which most are cancelled', () => {
    const time = virtualTime();
    const told: number[] = [];
    const subscriptions = time.within(() =>
      Array.from({ length: 100_000 }, (_each, index) => {
        const at = (index * 7_919) % 100_003;
        return timer(at).subscribe({ next: () => told.push(at), error: unexpected });
      }),
    );
    subscriptions.forEach((each, index) => {
      if (index % 10 !== 0) each.unsubscribe();
    });
    time.passToEnd();
    expect(told).toHaveLength(10_000);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });
});
