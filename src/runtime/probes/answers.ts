import type { ProbeAnswer } from '../../streams/probes/probe.ts';

/** What probes call themselves towards servers. */
export const USER_AGENT = 'kube-probe/1.36';

/** The most of an answer that is looked at, in bytes (kubelet: 10 KiB). */
export const LONGEST_OUTPUT: number = 10 * 1024;

export function success(output: string): ProbeAnswer {
  return { result: 'success', output };
}

export function failure(output: string): ProbeAnswer {
  return { result: 'failure', output };
}
