import type { ObservedPod } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';

/** What the runtime says has become of a container or sandbox, in the order in which that comes to pass. */
export type Became = 'created' | 'started' | 'stopped' | 'deleted';

/** Something happened to a pod, says the runtime: a reason to look sooner, and never the state itself. */
export interface Hint {
  readonly uid: PodUid;
  /** To what of the pod, where that is told. */
  readonly about?: {
    readonly id: string;
    readonly became: Became;
    /** Told before the CRI itself tells it, and again by the CRI. */
    readonly early?: true;
  };
}

/** Whether an observation shows what was hinted at, or what came after it. Of a hint that tells nothing nobody knows. */
export function shows(pod: ObservedPod | undefined, { about }: Hint): boolean {
  if (!about) return false;
  const { id, became, early } = about;
  const container = pod?.containers.find((one) => one.id === id);
  const sandbox = pod?.sandboxes.find((one) => one.id === id);
  switch (became) {
    case 'created':
      return container !== undefined || sandbox !== undefined;
    case 'started':
      return container?.state === 'running' || container?.state === 'exited' || sandbox !== undefined;
    case 'stopped':
      return (container?.state === 'exited' && (early ?? !container.early)) || sandbox?.state === 'notReady';
    case 'deleted':
      return container === undefined && sandbox === undefined;
  }
}
