import type { Observable } from 'rxjs';

/** What stands at a path, links followed. */
export type PathType = 'missing' | 'file' | 'directory' | 'socket' | 'charDevice' | 'blockDevice' | 'other';

/**
 * The file system of the node. Cold Observables: subscribing does it, one value is emitted, then completion.
 * They error with the `Error` of the operating system (`ENOENT: no such file ...`), its `code` intact.
 */
export interface Files {
  /** Creates the directory and its parents; `mode` is set exactly, whatever the umask, on the last one. Fine when it is there. */
  readonly makeDir: (path: string, mode: number) => Observable<undefined>;
  /** Replaces the content; a reader sees the old or the new text, never a part, unless `inPlace` keeps the inode (bind mounts). */
  readonly writeFile: (
    path: string,
    content: string,
    options: { readonly mode: number; readonly inPlace?: boolean },
  ) => Observable<undefined>;
  /** Emits the text, or `undefined` where there is no such file. Longer files are cut to the last `tailBytes` bytes. */
  readonly readFile: (path: string, options?: { readonly tailBytes: number }) => Observable<string | undefined>;
  /** Names in a directory, sorted; empty where it is missing. */
  readonly list: (path: string) => Observable<readonly string[]>;
  readonly typeOf: (path: string) => Observable<PathType>;
  /** Makes `path` a symbolic link to `target`, replacing an older link. */
  readonly link: (target: string, path: string) => Observable<undefined>;
  /** Target of a symbolic link, or `undefined` where there is none at the path. */
  readonly readLink: (path: string) => Observable<string | undefined>;
  /** Removes one file or link. Fine when it is missing. */
  readonly removeFile: (path: string) => Observable<undefined>;
  /** Removes a tree. Never crosses a mount point: errors with code `EBUSY` and leaves it when one is below. Fine when it is missing. */
  readonly removeTree: (path: string) => Observable<undefined>;
  /** Removes the pod's cgroup below every hierarchy (`/kubepods/burstable/pod...`), bottom up. Fine when it is missing. */
  readonly removeCgroup: (cgroupPath: string) => Observable<undefined>;
}
