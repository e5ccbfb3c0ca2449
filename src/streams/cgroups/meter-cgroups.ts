import { asyncScheduler, defer, tap, type Observable } from 'rxjs';
import type { Applied, Cgroups } from '../ports/cgroups.ts';
import { DEAF, type Measured, type Meter } from '../ports/meter.ts';

type Operation = Extract<Measured, { kind: 'cgroup' }>['operation'];

/** The same cgroups; how long it took to make, set or remove one is measured when that is done. */
export function meterCgroups(cgroups: Cgroups, meter: Meter): Cgroups {
  if (meter === DEAF) return cgroups;

  function timed<T>(work$: Observable<T>, operationOf: (result: T) => Operation): Observable<T> {
    return defer(() => {
      const begun = asyncScheduler.now();
      return work$.pipe(
        tap((result) => {
          meter({ kind: 'cgroup', operation: operationOf(result), took: asyncScheduler.now() - begun });
        }),
      );
    });
  }

  return {
    apply: (path, limits) => timed(cgroups.apply(path, limits), (applied) => OPERATIONS[applied]),
    remove: (path, how) => timed(cgroups.remove(path, how), () => 'destroy'),
    children: cgroups.children,
  };
}

const OPERATIONS: Readonly<Record<Applied, Operation>> = { made: 'create', set: 'update' };
