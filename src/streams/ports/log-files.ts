import type { Observable } from 'rxjs';
import type { LogFile } from '../../model/logs/plan-rotation.ts';

/**
 * The files of container logs. Cold Observables: subscribing does it, one value is emitted, then completion. They
 * error with the `Error` of the operating system. What is missing is no error.
 */
export interface LogFiles {
  /** Bytes of one file; `undefined` where there is none. */
  readonly size: (path: string) => Observable<number | undefined>;
  /** The files of a folder, without its folders. */
  readonly sizes: (folder: string) => Observable<readonly LogFile[]>;
  /** Emits as soon as a file is not, or no more, of so many bytes, or is none any more; errors where it cannot be watched. */
  readonly changedFrom: (path: string, bytes: number) => Observable<undefined>;
  readonly rename: (from: string, to: string) => Observable<undefined>;
  readonly remove: (path: string) => Observable<undefined>;
  /** Puts `path.gz` in the place of a file, as a whole. */
  readonly compress: (path: string) => Observable<undefined>;
  /** Keeps whole lines from the end of a file, at most so many bytes of them. */
  readonly keepEnd: (path: string, bytes: number) => Observable<undefined>;
}
