import { endWith, ignoreElements, map, merge, takeWhile, timer, type Observable } from 'rxjs';
import type { PodNote } from '../../streams/workers/pod-work.ts';

/** Milliseconds before the first word, and between two (facts sheet 15.3). */
const PATIENCE = 30_000;
const PERIOD = 60_000;

/**
 * Gives a volume another owner, and says so while that takes long.
 *
 * ```text
 * change   ---------- 100s --|
 * result   - 30s - n - 60s - n - 10s |     n: VolumePermissionChangeInProgress
 * ```
 *
 * Completes and errors with the change.
 */
export function tellSlowChange(dir: string, change$: Observable<unknown>): Observable<PodNote> {
  const note: PodNote = {
    level: 'Warning',
    reason: 'VolumePermissionChangeInProgress',
    message: `Setting volume ownership for ${dir} is taking longer than expected`,
  };
  return merge(change$.pipe(ignoreElements(), endWith(undefined)), timer(PATIENCE, PERIOD).pipe(map(() => note))).pipe(
    takeWhile((word) => word !== undefined),
  );
}
