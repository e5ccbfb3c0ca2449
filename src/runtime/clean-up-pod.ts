import { concat, concatMap, defer, ignoreElements, type Observable } from 'rxjs';
import type { ObservedPod } from '../model/observed.ts';
import { containerLink, podDir, podLogDir, type PodIdentity } from '../model/paths.ts';
import type { RuntimeContext } from './context.ts';
import type { Observer } from './observe.ts';
import { unlessGone } from './stop-pod.ts';
import { unmountVolumes } from './volumes/tear-down-volumes.ts';

/**
 * Removes what is left of a pod that has ended: its containers and sandboxes, mounts, links, logs, folders and cgroup.
 *
 * Completes when nothing is left; errors with the first thing that could not be removed, and may be repeated. The
 * folders go last, and never across a mount point: somebody's data may be behind it.
 */
export function cleanUpPod(
  of: PodIdentity,
  cgroups: readonly string[],
  observer: Observer,
  context: RuntimeContext,
): Observable<never> {
  const { files, paths } = context;
  return concat(
    observer.observePod(of.uid).pipe(concatMap((observed) => removeFromRuntime(of, observed, context))),
    unmountVolumes(of.uid, context),
    defer(() => files.removeTree(podLogDir(paths, of))),
    defer(() => files.removeTree(podDir(paths, of.uid))),
    defer(() => concat(...cgroups.map((path) => context.cgroups?.remove(path, 'kill') ?? files.removeCgroup(path)))),
  ).pipe(ignoreElements());
}

function removeFromRuntime(
  of: PodIdentity,
  { containers, sandboxes }: ObservedPod,
  { cri, files, paths }: RuntimeContext,
): Observable<unknown> {
  return concat(
    ...containers.flatMap(({ id, name }) => [
      files.removeFile(containerLink(paths, of, name, id)),
      unlessGone(cri.removeContainer({ containerId: id })),
    ]),
    ...sandboxes.map(({ id }) => unlessGone(cri.removePodSandbox({ podSandboxId: id }))),
  );
}
