import { asyncScheduler } from 'rxjs';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { RuntimeContext } from '../context.ts';
import type { VolumeError } from '../volumes/volume-error.ts';

type Clockwork = Pick<RuntimeContext, 'retryPeriod' | 'random'>;

/** Seconds that a failed kill waits before the next, growing with each; milliseconds. */
const FIRST_RETRY = 1_000;

/** The ordinary wait, or less where a pull may be tried sooner; one whose time has passed is no reason to hurry. */
export function untilRetry(pulls: PodMemory['pulls'], context: Clockwork): number {
  const now = asyncScheduler.now();
  const waits = [...pulls.values()].map(({ until }) => until - now).filter((left) => left > 0);
  return Math.min(context.retryPeriod * jitter(context), ...waits);
}

/** Until the first of the volumes that are not ready may be tried again; milliseconds. */
export function untilMount({ failures }: VolumeError, context: Clockwork): number {
  const waits = [...failures.values()].map(({ until }) => until - asyncScheduler.now());
  return waits.length === 0 ? context.retryPeriod * jitter(context) : Math.max(0, Math.min(...waits));
}

/** At once, then 1, 2, 4, ... seconds, up to the ordinary retry; milliseconds. */
export function growing(failures: number, { retryPeriod }: Clockwork): number {
  return failures === 0 ? 0 : Math.min(retryPeriod, FIRST_RETRY * 2 ** (failures - 1));
}

/** A factor in [1, 1.5), so that pods which failed together do not all come back together. */
export function jitter({ random }: Clockwork): number {
  return 1 + random() / 2;
}
