import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from './clock.ts';

export interface LoadResult {
  /** Milliseconds of an answer: the median, and the slowest but one in a hundred. Nothing where there was none. */
  readonly p50?: number;
  readonly p99?: number;
  readonly failed: number;
}

/** Asks so many times a second, whether the answers have come or not, for so many seconds. */
export async function httpLoad(ask: () => Promise<unknown>, perSecond: number, seconds: number): Promise<LoadResult> {
  const begun = performance.now();
  const took: number[] = [];
  let failed = 0;
  const asked: Promise<void>[] = [];
  for (let count = 0; count < perSecond * seconds; count++) {
    await delay(Math.max(0, begun + (count * 1_000) / perSecond - performance.now()));
    const start = performance.now();
    asked.push(
      ask().then(
        () => {
          took.push(performance.now() - start);
        },
        () => {
          failed += 1;
        },
      ),
    );
  }
  await Promise.all(asked);
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
  return { ...(p50 !== undefined && { p50 }), ...(p99 !== undefined && { p99 }), failed };
}
