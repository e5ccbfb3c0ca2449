import type { ObservedPod, ObservedSandbox } from './observed.ts';
import type { Pod } from './pod.ts';

/** The newest sandbox, if the pod can go on in it (facts sheet 8.1). */
export function usableSandbox({ spec }: Pod, { sandboxes }: ObservedPod): ObservedSandbox | undefined {
  const [newest] = sandboxes;
  if (newest?.state !== 'ready') return undefined;
  if (sandboxes.filter(({ state }) => state === 'ready').length > 1) return undefined;
  const hostNetwork = spec.hostNetwork === true;
  if (newest.hostNetwork !== undefined && newest.hostNetwork !== hostNetwork) return undefined;
  if (!hostNetwork && newest.ips?.length === 0) return undefined;
  return newest;
}
