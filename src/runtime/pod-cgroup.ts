import { catchError, concat, defer, EMPTY, ignoreElements, throwError, type Observable } from 'rxjs';
import { podCgroupLimits } from '../model/cgroup-limits.ts';
import { podCgroup } from '../model/cgroup.ts';
import { messageOf } from '../model/errors.ts';
import type { Pod } from '../model/pod.ts';
import { qosClassOf } from '../model/qos.ts';
import type { RuntimeContext } from './context.ts';

/**
 * Makes the pod's cgroup with its limits, or sets them anew (facts sheet 11.2); before the sandbox, so that nothing of
 * the pod ever runs outside of it. Completes at once where pods have no cgroups of their own.
 */
export function preparePodCgroup(
  { metadata, spec }: Pod,
  { cgroups, config, facts, rules }: RuntimeContext,
): Observable<never> {
  if (!cgroups || !config.cgroupsPerQOS) return EMPTY;
  const path = podCgroup(config.cgroupRoot, facts.cgroupDriver, qosClassOf(spec), metadata.uid);
  const limits = podCgroupLimits(spec, { ...rules, podPidsLimit: config.podPidsLimit ?? -1 });
  return defer(() => cgroups.apply(path, limits)).pipe(
    ignoreElements(),
    catchError((error: unknown) =>
      throwError(() => new Error(`unable to ensure pod container exists: ${path}: ${messageOf(error)}`)),
    ),
  );
}

/**
 * Does the steps of a pod that may already run, with its cgroup set to what the manifest now says.
 *
 * ```text
 * cgroup    --|  or  --#
 * steps       ss|      ss|
 * cgroup                 --|      once more where it could not be set at first
 * ```
 *
 * No container may have more CPU than its pod (cgroup v1), so that a pod which shrinks can do so only after its
 * containers, and one that grows must do so before them. Where the first try fails, the pod as it is has room for all
 * that the steps give.
 */
export function withinPodCgroup<T>(pod: Pod, context: RuntimeContext, steps$: Observable<T>): Observable<T> {
  return defer(() => {
    let isSet = true;
    const first$ = preparePodCgroup(pod, context).pipe(
      catchError(() => {
        isSet = false;
        return EMPTY;
      }),
    );
    return concat(
      first$,
      steps$,
      defer(() => (isSet ? EMPTY : preparePodCgroup(pod, context))),
    );
  });
}
