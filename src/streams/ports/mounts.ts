import type { Observable } from 'rxjs';

/** One line of the kernel's list of mounts. */
export interface MountedAt {
  readonly target: string;
  /** As `tmpfs`, `ext4`. */
  readonly type: string;
}

/** What `mount(8)` is told. An empty `type` leaves it to the kernel; `source` is never resolved. */
interface MountRequest {
  readonly source: string;
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** A part of a volume that is to be seen at another place of the node. */
export interface InnerBind {
  /** Root of the volume. */
  readonly volume: string;
  /** Relative to it, without `..`; symbolic links on the way may lead anywhere inside of the volume, never out. */
  readonly subPath: string;
  /** Made as a directory (0750) or as a file (0640), with its parents (0750). */
  readonly target: string;
}

/** Why a part of a volume cannot be shown: it is not there, or the way to it leads out of the volume. */
export class SubPathError extends Error {
  override readonly name = 'SubPathError';
  /** What went wrong: making the directories, or binding them. */
  readonly step: 'make' | 'bind';

  constructor(step: 'make' | 'bind', message: string) {
    super(message);
    this.step = step;
  }
}

/**
 * The mounts of the node. Cold Observables: subscribing does it, one value is emitted, then completion.
 * They error with what `mount` and `umount` said.
 */
export interface Mounts {
  /**
   * What is mounted at a path or below, in the order in which it was mounted: the last one at a target is the one in
   * sight. Targets begin with the path as it was given.
   */
  readonly below: (path: string) => Observable<readonly MountedAt[]>;
  readonly mount: (request: MountRequest) => Observable<undefined>;
  /** Mounts memory that is never swapped out where the kernel can promise that. `size` in bytes. */
  readonly mountMemory: (target: string, size: number) => Observable<undefined>;
  /** Takes away the mount that is in sight at the target. */
  readonly unmount: (target: string) => Observable<undefined>;
  /**
   * Binds a part of a volume, making directories that are missing with the mode of the volume's root. Fine when it is
   * bound there already; what else is bound there goes. Errors with a {@link SubPathError}.
   */
  readonly bindInside: (bind: InnerBind) => Observable<undefined>;
}
