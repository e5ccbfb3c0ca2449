import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, of, throwError, type Observable } from 'rxjs';
import { podCgroup } from '../../model/cgroup.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { ObservedPod } from '../../model/observed.ts';
import { containerLink, podDir, podLogDir, type PodIdentity } from '../../model/paths.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { PodUid } from '../../model/pod.ts';
import type { QosClass } from '../../model/qos.ts';
import type { PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import type { RuntimeContext } from '../context.ts';
import type { Observer } from '../observe.ts';
import { stopSandboxes, unlessGone } from '../stop-pod.ts';
import { unmountVolumes } from '../volumes/tear-down-volumes.ts';
import { failed } from './failed.ts';
import { growing } from './retry-times.ts';

type CleanUp = Extract<PodWork, { kind: 'cleanUp' }>;

/**
 * Removes what is left of a pod that has ended: its containers, its sandboxes (those still up are stopped first), mounts, links, logs, folders and cgroup.
 *
 * The first thing that could not be removed is a failure, and all is tried again, later each time. The folders go last,
 * and never across a mount point: somebody's data may be behind it.
 */
export function cleanUpPod(
  work: CleanUp,
  memory: PodMemory,
  observer: Observer,
  context: RuntimeContext,
): Observable<PodReport> {
  const { uid } = work;
  const { files, paths } = context;
  return concat(
    observer.observePod(uid).pipe(
      concatMap((observed) =>
        concat(
          // Those that were left up when the containers ended.
          stopSandboxes(
            observed.sandboxes.filter(({ state }) => state === 'ready'),
            context.cri,
          ),
          removeFromRuntime(work.of, observed, context),
        ),
      ),
    ),
    unmountVolumes(uid, context),
    defer(() => files.removeTree(podLogDir(paths, work.of))).pipe(ignoreElements()),
    defer(() => files.removeTree(podDir(paths, uid))).pipe(ignoreElements()),
    defer(() => removeCgroups(uid, context)),
    of<PodReport>({ kind: 'outcome', uid, outcome: { kind: 'cleanedUp', uid, work } }),
  ).pipe(catchError((error: unknown) => of(failed(work, memory, error, growing(memory.failures + 1, context)))));
}

function removeFromRuntime(
  pod: PodIdentity,
  { containers, sandboxes }: ObservedPod,
  context: RuntimeContext,
): Observable<never> {
  const { cri, files, paths } = context;
  return concat(
    ...containers.flatMap(({ id, name }) => [
      files.removeFile(containerLink(paths, pod, name, id)).pipe(ignoreElements()),
      insisting((containerId) => cri.removeContainer({ containerId }), id, pod.uid, context),
    ]),
    ...sandboxes.map(({ id }) =>
      insisting((podSandboxId) => cri.removePodSandbox({ podSandboxId }), id, pod.uid, context),
    ),
  );
}

/**
 * A runtime may have lost sight of what it started for an agent that was killed meanwhile, and then refuses to remove
 * what that runs in (containerd 2: "cannot delete running task"). Nothing of the pod is to run any more, so what is left
 * in its cgroup is ended, the runtime is made to forget it, and asked once more.
 */
function insisting(
  remove: (id: string) => Observable<unknown>,
  id: string,
  uid: PodUid,
  context: RuntimeContext,
): Observable<never> {
  const removed$ = unlessGone(defer(() => remove(id)));
  return removed$.pipe(
    catchError((error: unknown) => {
      if (!(error instanceof RuntimeError) || error.kind !== 'refused') return throwError(() => error);
      return concat(
        context.cgroups ? removeCgroups(uid, context) : EMPTY,
        // Where that fails, the runtime's own refusal tells why.
        context.forgetTask?.(id).pipe(catchError(() => EMPTY)) ?? EMPTY,
        removed$,
      );
    }),
  );
}

/** With all that runs in them. Of a pod whose manifest is gone nobody knows the QoS class any more. */
function removeCgroups(uid: PodUid, { cgroups, config, facts, files }: RuntimeContext): Observable<never> {
  if (!config.cgroupsPerQOS) return EMPTY;
  const paths = QOS_CLASSES.map((qos) => podCgroup(config.cgroupRoot, facts.cgroupDriver, qos, uid));
  return concat(...paths.map((path) => cgroups?.remove(path, 'kill') ?? files.removeCgroup(path))).pipe(
    ignoreElements(),
  );
}

const QOS_CLASSES = ['Guaranteed', 'Burstable', 'BestEffort'] as const satisfies readonly QosClass[];
