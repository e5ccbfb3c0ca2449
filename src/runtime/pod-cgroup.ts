import { catchError, defer, EMPTY, ignoreElements, throwError, type Observable } from 'rxjs';
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
