import type { Container, PodSpec } from '../pod.ts';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** What follows when a container has ended. */
export type AfterExit = 'restart' | 'leave' | 'restartAll';

/** How a container ended. */
export interface Exit {
  readonly exitCode: number;
  /** The runtime's word for it, as `OOMKilled`. */
  readonly reason: string;
}

/** The policy that holds for one container of the pod, before its rules. */
export function restartPolicyOf(spec: PodSpec, container: Pick<Container, 'restartPolicy'>): RestartPolicy {
  return policy(container.restartPolicy ?? spec.restartPolicy);
}

/**
 * What follows when a regular container or a sidecar has ended (facts sheet 8.6, 9): the first of its rules that
 * matches the exit code, else its own policy, else the pod's.
 */
export function afterExit(spec: PodSpec, container: Container, { exitCode }: Exit): AfterExit {
  const rule = container.restartPolicyRules?.find(({ exitCodes }) => matches(exitCodes, exitCode));
  if (rule) return rule.action === 'RestartAllContainers' ? 'restartAll' : 'restart';
  return restartsAfter(restartPolicyOf(spec, container), exitCode) ? 'restart' : 'leave';
}

/**
 * The same for an init container that is no sidecar: one that succeeded is never run again, and one that failed is
 * run again unless the policy is Never (`Always` means the same as `OnFailure` here).
 */
export function afterInitExit(spec: PodSpec, container: Container, exit: Exit): AfterExit | 'done' {
  const rule = container.restartPolicyRules?.find(({ exitCodes }) => matches(exitCodes, exit.exitCode));
  if (rule) return rule.action === 'RestartAllContainers' ? 'restartAll' : 'restart';
  if (exit.exitCode === 0 && exit.reason !== 'OOMKilled') return 'done';
  return restartPolicyOf(spec, container) === 'Never' ? 'leave' : 'restart';
}

/** Whether a policy lets a container that ended with this exit code run again (facts sheet 9). */
export function restartsAfter(policyOfContainer: RestartPolicy, exitCode: number): boolean {
  switch (policyOfContainer) {
    case 'Always':
      return true;
    case 'OnFailure':
      return exitCode !== 0;
    case 'Never':
      return false;
  }
}

type ExitCodes = NonNullable<Container['restartPolicyRules']>[number]['exitCodes'];

function matches(exitCodes: ExitCodes, exitCode: number): boolean {
  const isListed = exitCodes?.values?.includes(exitCode) === true;
  return exitCodes?.operator === 'NotIn' ? !isListed : isListed;
}

function policy(value: string | undefined): RestartPolicy {
  return value === 'OnFailure' || value === 'Never' ? value : 'Always';
}
