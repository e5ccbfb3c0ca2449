import type { NodeView, PodView } from '../streams/view/node-view.ts';

/** Pods in trouble that are named; of more it is only said how many. */
const MOST_NAMED = 3;

/**
 * One line on how things stand, for `systemctl status`: `3 of 4 pods running, 1 not ready, in trouble: web-myhost
 * (CrashLoopBackOff)`. The unit itself is active as long as the agent lives, whatever becomes of its pods.
 */
export function statusLine({ pods, problems, runtime }: NodeView): string {
  const running = pods.filter(({ status }) => status.phase === 'Running');
  const unready = running.filter(({ status }) =>
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'False'),
  );
  const troubled = pods.flatMap(({ pod, status }) => {
    const why = troubleOf(status);
    return why === undefined ? [] : [`${pod.metadata.name} (${why})`];
  });
  const named = [
    ...troubled.slice(0, MOST_NAMED),
    ...(troubled.length > MOST_NAMED ? [`${troubled.length - MOST_NAMED} more`] : []),
  ];
  return [
    `${running.length} of ${pods.length} pods running`,
    ...(unready.length > 0 ? [`${unready.length} not ready`] : []),
    ...(named.length > 0 ? [`in trouble: ${named.join(', ')}`] : []),
    ...(problems.length > 0
      ? [`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in manifests`]
      : []),
    ...(runtime.ready ? [] : ['the container runtime is not ready']),
  ].join(', ');
}

/** Why a pod has failed, or cannot go on by itself. */
function troubleOf({
  phase,
  reason,
  containerStatuses = [],
  initContainerStatuses = [],
}: PodView['status']): string | undefined {
  if (phase === 'Failed') return reason ?? 'Failed';
  return [...initContainerStatuses, ...containerStatuses]
    .map(({ state }) => state?.waiting?.reason)
    .find((why) => why !== undefined && !ON_THE_WAY.has(why));
}

const ON_THE_WAY: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
