import { catchError, defer, map, of, type Observable } from 'rxjs';
import type { Cri } from '../streams/ports/cri.ts';

/** What a runtime can do beyond what every one must. */
export interface RuntimeFeatures {
  /** Whether it can leave out the groups that an image gives its user. */
  readonly supplementalGroupsPolicy: boolean;
  /** Handlers that can mount a tree read-only with all that is mounted in it; the empty name is the default one. */
  readonly recursiveReadOnly: ReadonlySet<string>;
}

/** Asks the runtime once. Emits one value and completes; what it does not tell it cannot do. Never errors. */
export function runtimeFeatures({ status }: Pick<Cri, 'status'>): Observable<RuntimeFeatures> {
  return defer(status).pipe(
    map(({ features, runtimeHandlers = [] }) => ({
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
      recursiveReadOnly: new Set(
        runtimeHandlers.filter((each) => each.features?.recursiveReadOnlyMounts === true).map(({ name = '' }) => name),
      ),
    })),
    catchError(() => of(NONE)),
  );
}

const NONE: RuntimeFeatures = { supplementalGroupsPolicy: false, recursiveReadOnly: new Set() };
