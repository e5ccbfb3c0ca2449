import { allContainers } from '../containers.ts';
import type { ObservedPod } from '../observed.ts';
import type { Pod } from '../pod.ts';
import { afterExit } from '../restart/restart-policy.ts';

/** Reason of a container that is gone because the whole pod begins anew (facts sheet 8.6, 19.3). */
export const RESTARTING_ALL = 'RestartingAllContainers';

/** A rule of one of its containers can make the whole pod begin anew. */
export function mayRestartAll({ spec }: Pod): boolean {
  return allContainers(spec).some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
}

/** A container has ended in the sandbox in use in a way for which its rules ask that the whole pod begins anew. */
export function asksForRestartOfAll({ spec }: Pod, observed: ObservedPod | undefined): boolean {
  return allContainers(spec).some((container) => {
    const newest = observed?.containers.find(({ name }) => name === container.name);
    if (newest?.state !== 'exited' || newest.sandboxId !== observed?.sandboxes[0]?.id) return false;
    const { exitCode = 0, reason = '' } = newest.detail ?? {};
    return afterExit(spec, container, { exitCode, reason }) === 'restartAll';
  });
}
