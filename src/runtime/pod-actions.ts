import type { PodActions } from '../streams/workers/pod-workers.ts';
import { cleanUpPod } from './actions/clean-up-pod.ts';
import { preparePod } from './actions/prepare-pod.ts';
import { syncPod } from './actions/sync-pod.ts';
import { terminatePod } from './actions/terminate-pod.ts';
import type { Observer } from './observe.ts';
import type { PerformContext } from './perform-context.ts';

/**
 * Does the work that the workers hand out: looks at the pod, plans, performs, and tells how it went.
 *
 * ```text
 * sync     --o              o: observe; nothing to do
 * report   --(S|)           S: synced
 *
 * sync     --o--p--p-o      p: steps, each with its notes; then it is looked at once more
 * report   -----n--n-(S|)
 * ```
 *
 * Never errors: what fails is an outcome.
 */
export function podActions(observer: Observer, context: PerformContext): PodActions {
  return {
    perform: (work, memory) => {
      switch (work.kind) {
        case 'sync':
          return syncPod(work, memory, observer, context);
        case 'prepare':
          return preparePod(work, memory, context);
        case 'terminate':
          return terminatePod(work, memory, observer, context);
        case 'cleanUp':
          return cleanUpPod(work, memory, observer, context);
      }
    },
  };
}
