import type { Observable } from 'rxjs';

/** How a volume is given to the group of a pod (`fsGroup`). */
export interface GroupOwnership {
  readonly group: number;
  /** The group may read only. */
  readonly readOnly: boolean;
  /** Whether all is left as it is where the root of the volume has the group and its permissions already. */
  readonly onlyOnMismatch: boolean;
}

interface PayloadFile {
  readonly content: string | Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** Files by their path in the volume, as `a/name`. */
export type Payload = ReadonlyMap<string, PayloadFile>;

/**
 * What is done to the content of volumes. Cold Observables: subscribing does it, one value is emitted, then
 * completion. They error with the `Error` of the operating system. None of them leaves the volume by a symbolic link.
 */
export interface VolumeFiles {
  /** Sets the permission bits of a directory, whatever they were. */
  readonly setMode: (path: string, mode: number) => Observable<undefined>;
  readonly giveToGroup: (path: string, ownership: GroupOwnership) => Observable<undefined>;
  /**
   * Replaces all files of a volume at once: a reader sees the old ones or the new ones, never some of both. Emits
   * whether there was anything to replace; one that is up to date is not touched.
   */
  readonly writePayload: (dir: string, payload: Payload, ownership: GroupOwnership | undefined) => Observable<boolean>;
  /** Bytes that a tree takes on its disk; file systems mounted in it are not counted. */
  readonly usage: (path: string) => Observable<number>;
}
