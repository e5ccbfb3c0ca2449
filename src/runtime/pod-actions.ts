import { tap } from 'rxjs';
import type { ObservedPod } from '../model/observed.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodActions } from '../streams/workers/pod-workers.ts';
import { cleanUpPod } from './actions/clean-up-pod.ts';
import { preparePod } from './actions/prepare-pod.ts';
import { syncPod } from './actions/sync-pod.ts';
import { terminatePod } from './actions/terminate-pod.ts';
import type { Observer } from './observe.ts';
import type { PerformContext } from './perform-plan.ts';

/**
 * Does the work that the workers hand out: looks at the pod, plans, performs, and tells how it went.
 *
 * ```text
 * sync     --o              o: observe, where something was begun for the pod before; nothing to do
 * report   --(S|)           S: synced
 *
 * sync     --o--p--p-o      p: steps, each with its notes; then it is looked at once more
 * report   -----n--n-(S|)
 * ```
 *
 * Never errors: what fails is an outcome.
 */
export function podActions(observer: Observer, context: PerformContext): PodActions {
  // Nobody but us makes anything for a pod, and work begins only when the runtime has been listed once: of a pod that
  // nothing was begun for there is what the list shows.
  const touched = new Set<PodUid>();
  const nothingOf = (uid: PodUid): ObservedPod => ({
    ...{ uid, name: '', namespace: '', sandboxes: [], containers: [] },
    revision: context.revisions.current(),
  });

  return {
    perform: (work, memory) => {
      const { uid } = work;
      const isUntouched = !touched.has(uid);
      touched.add(uid);
      switch (work.kind) {
        case 'sync': {
          const observed = work.observed ?? (isUntouched ? nothingOf(uid) : undefined);
          return syncPod(observed ? { ...work, observed } : work, memory, observer, context);
        }
        case 'prepare':
          return preparePod(work, memory, context);
        case 'terminate':
          return terminatePod(work, memory, observer, context);
        case 'cleanUp':
          return cleanUpPod(work, memory, observer, context).pipe(
            tap((report) => {
              if (report.kind === 'outcome' && report.outcome.kind === 'cleanedUp') touched.delete(uid);
            }),
          );
      }
    },
  };
}
