import {
  concat,
  concatMap,
  defer,
  finalize,
  forkJoin,
  ignoreElements,
  map,
  of,
  throwError,
  type Observable,
} from 'rxjs';
import type { UserNamespace } from '../model/cri/api.ts';
import { podDir, podsDir, type NodePaths } from '../model/paths.ts';
import type { PodUid } from '../model/pod.ts';
import {
  defaultIdRange,
  freeIds,
  LEAST_IDS,
  parseUserNamespace,
  printUserNamespace,
  subIdRange,
  userNamespaceAt,
  type IdRange,
} from '../model/user-namespace.ts';
import type { Files } from '../streams/ports/files.ts';

/** Gives pods ids of the node that nobody else has. Emits the pod's namespace, the same one each time, and completes. */
export type UserNamespaces = (uid: PodUid) => Observable<UserNamespace>;

interface Ground {
  readonly files: Files;
  readonly paths: NodePaths;
  readonly maxPods: number;
  /** A multiple of 65536. */
  readonly idsPerPod: number;
}

/** Whose subordinate ids pods get, where the node's administrator has set some aside. */
const OWNER = 'kubelet';

/**
 * The ids of pods in user namespaces (facts sheet 10.3). What a pod has is in its folder, so that it keeps it for as
 * long as it lives, whatever becomes of the agent; ids are free again when the folder is gone.
 *
 * ```text
 * pod a   --r--l--w(n|)       r: its file, not there   l: files of all pods   w: written   n: the lowest free ids
 * pod b   ---r--l---w(m|)     m: never n: what is about to be written is taken already
 * ```
 */
export function userNamespaces({ files, paths, maxPods, idsPerPod }: Ground): UserNamespaces {
  const promised = new Set<IdRange>();

  return (uid) =>
    files.readFile(fileOf(uid)).pipe(
      concatMap((text) => {
        const known = parseUserNamespace(text ?? '');
        return known === undefined ? allocate(uid) : of(known);
      }),
      map(userNamespaceAt),
    );

  function allocate(uid: PodUid): Observable<IdRange> {
    return forkJoin([range(), taken()]).pipe(
      concatMap(([ids, others]) => {
        const free = freeIds(ids, [...others, ...promised], idsPerPod);
        if (free === undefined)
          return throwError(() => new Error('could not find an empty slot to allocate a user namespace'));
        promised.add(free);
        return concat(
          files.writeFile(fileOf(uid), printUserNamespace(free), { mode: 0o644 }).pipe(ignoreElements()),
          of(free),
        ).pipe(finalize(() => promised.delete(free)));
      }),
    );
  }

  function range(): Observable<IdRange> {
    return forkJoin([setAside('/etc/subuid'), setAside('/etc/subgid')]).pipe(
      map(([uids, gids]) => {
        const isOne = uids !== undefined && uids.start === gids?.start && uids.length === gids.length;
        return isOne && uids.start % LEAST_IDS === 0 ? uids : defaultIdRange(maxPods, idsPerPod);
      }),
    );
  }

  function setAside(path: string): Observable<IdRange | undefined> {
    return files.readFile(path).pipe(map((text) => subIdRange(text ?? '', OWNER)));
  }

  function taken(): Observable<readonly IdRange[]> {
    return files.list(podsDir(paths)).pipe(
      concatMap((uids) =>
        uids.length === 0 ? of([]) : forkJoin(uids.map((uid) => defer(() => files.readFile(fileOf(uid as PodUid))))),
      ),
      map((texts) => texts.map((text) => parseUserNamespace(text ?? '')).filter((ids) => ids !== undefined)),
    );
  }

  function fileOf(uid: PodUid): string {
    return `${podDir(paths, uid)}/userns`;
  }
}
