import { of, tap, type Observable } from 'rxjs';
import type { FailedPull } from '../../model/pod-memory.ts';
import type { Pod } from '../../model/pod.ts';
import type { PerformContext } from '../perform-context.ts';
import { planSandbox, type SandboxPlan } from '../sandbox-plan.ts';
import type { Ending } from '../stop-pod.ts';

/** What the steps of one plan hand on to each other. */
export interface Progress {
  sandboxId: string;
  attempt: number;
  ips: readonly string[];
  sandbox: SandboxPlan | undefined;
  /** What the pod's cgroup is limited to, as JSON, where that is known. */
  limits: string | undefined;
  readonly failures: Map<string, { readonly reason: string; readonly message: string }>;
  readonly pulls: Map<string, FailedPull>;
}

/** The sandbox's configuration goes along with every container, so it is the same in all calls of one plan. */
export function sandboxFor(
  pod: Pod,
  attempt: number,
  progress: Progress,
  context: PerformContext,
): Observable<SandboxPlan> {
  if (progress.sandbox) return of(progress.sandbox);
  return planSandbox(pod, attempt, context).pipe(
    tap((sandbox) => {
      progress.sandbox = sandbox;
    }),
  );
}

export function endingOf(pod: Pod, { ips }: Progress, { cri, http }: PerformContext): Ending {
  return { cri, http, pod, podIp: pod.spec.hostNetwork === true ? undefined : ips[0] };
}
