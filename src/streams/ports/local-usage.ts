import type { Observable } from 'rxjs';

/** What pods take of the disk of their node. Cold Observables: each look emits once and completes. */
export interface LocalUsage {
  /** Bytes that a tree takes on its disk, file systems mounted in it left out; 0 where there is none. */
  readonly tree: (path: string) => Observable<number>;
  /**
   * Bytes of the writable layers of the containers in a sandbox, by container id. Empty where they lie on a disk of
   * their own, which the limits of pods do not guard.
   */
  readonly layers: (sandboxId: string) => Observable<ReadonlyMap<string, number>>;
}
