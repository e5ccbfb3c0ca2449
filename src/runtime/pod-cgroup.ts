import { catchError, concat, defer, EMPTY, ignoreElements, tap, throwError, type Observable } from 'rxjs';
import { podCgroupLimits, type LimitValues } from '../model/cgroup-limits.ts';
import { podCgroup } from '../model/cgroup.ts';
import { messageOf } from '../model/errors.ts';
import type { Pod } from '../model/pod.ts';
import { qosClassOf } from '../model/qos.ts';
import type { RuntimeContext } from './context.ts';
import type { Progress } from './steps/progress.ts';

/**
 * Makes the pod's cgroup with its limits, or sets them anew (facts sheet 11.2); before the sandbox, so that nothing of
 * the pod ever runs outside of it. Completes at once where pods have no cgroups of their own.
 */
export function preparePodCgroup(pod: Pod, progress: Limited, context: RuntimeContext): Observable<never> {
  const { cgroups, config, facts } = context;
  const limits = limitsOf(pod, context);
  if (!cgroups || !limits) return EMPTY;
  const path = podCgroup(config.cgroupRoot, facts.cgroupDriver, qosClassOf(pod.spec), pod.metadata.uid);
  return defer(() => cgroups.apply(path, limits)).pipe(
    ignoreElements(),
    tap({
      complete: () => {
        progress.limits = JSON.stringify(limits);
      },
    }),
    catchError((error: unknown) =>
      throwError(() => new Error(`unable to ensure pod container exists: ${path}: ${messageOf(error)}`)),
    ),
  );
}

type Limited = Pick<Progress, 'limits'>;

/** Nothing where pods have no cgroups of their own. */
function limitsOf({ spec }: Pod, { cgroups, config, rules }: RuntimeContext): LimitValues | undefined {
  if (!cgroups || !config.cgroupsPerQOS) return undefined;
  return podCgroupLimits(spec, { ...rules, podPidsLimit: config.podPidsLimit ?? -1 });
}

/**
 * Does the steps of a pod that may already run, with its cgroup set to what the manifest now says.
 *
 * ```text
 * cgroup    --|  or  --#      not touched where it is known to be set so: its sandbox is in it, so it is there
 * steps       ss|      ss|
 * cgroup                 --|  once more where it could not be set at first
 * ```
 *
 * No container may have more CPU than its pod (cgroup v1), so that a pod which shrinks can do so only after its
 * containers, and one that grows must do so before them. Where the first try fails, the pod as it is has room for all
 * that the steps give.
 */
export function withinPodCgroup<T>(
  pod: Pod,
  progress: Limited,
  context: RuntimeContext,
  steps$: Observable<T>,
): Observable<T> {
  return defer(() => {
    if (JSON.stringify(limitsOf(pod, context)) === progress.limits) return steps$;
    let isSet = true;
    const first$ = preparePodCgroup(pod, progress, context).pipe(
      catchError(() => {
        isSet = false;
        return EMPTY;
      }),
    );
    return concat(
      first$,
      steps$,
      defer(() => (isSet ? EMPTY : preparePodCgroup(pod, progress, context))),
    );
  });
}
