import { catchError, defer, map, of, type Observable } from 'rxjs';
import type { Cri } from '../streams/ports/cri.ts';

/** What a runtime can do beyond what every one must. */
export interface RuntimeFeatures {
  /** Whether it can leave out the groups that an image gives its user. */
  readonly supplementalGroupsPolicy: boolean;
}

/** Asks the runtime once. Emits one value and completes; what it does not tell it cannot do. Never errors. */
export function runtimeFeatures({ status }: Pick<Cri, 'status'>): Observable<RuntimeFeatures> {
  return defer(status).pipe(
    map(({ features }) => ({ supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true })),
    catchError(() => of({ supplementalGroupsPolicy: false })),
  );
}
