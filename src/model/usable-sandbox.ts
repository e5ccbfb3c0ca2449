import type { ObservedPod, ObservedSandbox } from './observed.ts';
import type { Pod, PodSpec } from './pod.ts';

/** The newest sandbox, if the pod can go on in it (facts sheet 8.1). */
export function usableSandbox({ spec }: Pod, { sandboxes }: ObservedPod): ObservedSandbox | undefined {
  const [newest] = sandboxes;
  if (newest?.state !== 'ready') return undefined;
  if (sandboxes.filter(({ state }) => state === 'ready').length > 1) return undefined;
  if (isInOtherNetwork(spec, newest)) return undefined;
  if (spec.hostNetwork !== true && newest.ips?.length === 0) return undefined;
  return newest;
}

/** Whether nothing is wrong with the only sandbox that is up but that the pod asks for the other kind of network. */
export function wantsOtherNetwork({ spec }: Pod, { sandboxes }: ObservedPod): boolean {
  const [newest] = sandboxes;
  const up = sandboxes.filter(({ state }) => state === 'ready');
  return newest !== undefined && up.length === 1 && up[0] === newest && isInOtherNetwork(spec, newest);
}

function isInOtherNetwork(spec: PodSpec, { hostNetwork }: ObservedSandbox): boolean {
  return hostNetwork !== undefined && hostNetwork !== (spec.hostNetwork === true);
}
