import { asyncScheduler, defer, tap, type Observable } from 'rxjs';
import type { Snapshot } from '../../model/observed.ts';
import { DEAF, type Meter } from '../ports/meter.ts';

/** The same listing, measured. */
export function meterListing(listPods: () => Observable<Snapshot>, meter: Meter): () => Observable<Snapshot> {
  if (meter === DEAF) return listPods;
  return () =>
    defer(() => {
      const startedAt = asyncScheduler.now();
      function end(failed: boolean): void {
        meter({ kind: 'relist', startedAt, took: asyncScheduler.now() - startedAt, failed });
      }
      return listPods().pipe(
        tap({
          complete: () => {
            end(false);
          },
          error: () => {
            end(true);
          },
        }),
      );
    });
}
