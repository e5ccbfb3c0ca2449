import type { PodStatus } from '../pod.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** The instance of a container that somebody means: its id in the runtime, or why there is none. */
export type Instance =
  | { readonly kind: 'found'; readonly containerId: string; readonly running: boolean }
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'notYet'; readonly message: string };

/** The one whose log is meant: the newest that has begun, or with `previous` the one before it. */
export function instanceToRead(status: PodStatus, container: string, previous: boolean): Instance {
  const its = statusOf(status, container);
  if (!its) return { kind: 'unknown', message: noSuchContainer(status, container) };
  const { running, waiting, terminated } = its.state ?? {};
  const before = idOf(its.lastState?.terminated?.containerID);
  if (previous) {
    return before === undefined
      ? { kind: 'notYet', message: `container ${container} has no previous instance whose log is kept` }
      : { kind: 'found', containerId: before, running: false };
  }
  const current = running ? idOf(its.containerID) : (idOf(terminated?.containerID) ?? before);
  if (current !== undefined) return { kind: 'found', containerId: current, running: running !== undefined };
  const why = waiting?.reason === undefined ? '' : `: ${waiting.reason}`;
  return { kind: 'notYet', message: `container ${container} has not started yet${why}` };
}

/** The one that runs, for a command in it. */
export function instanceToEnter(status: PodStatus, container: string): Instance {
  const its = statusOf(status, container);
  if (!its) return { kind: 'unknown', message: noSuchContainer(status, container) };
  const containerId = its.state?.running ? idOf(its.containerID) : undefined;
  if (containerId !== undefined) return { kind: 'found', containerId, running: true };
  const why = its.state?.waiting?.reason ?? its.state?.terminated?.reason;
  return { kind: 'notYet', message: `container ${container} is not running${why === undefined ? '' : `: ${why}`}` };
}

/** Names of a pod's containers that have a status, those of its init containers last. */
export function containerNames({ containerStatuses = [], initContainerStatuses = [] }: PodStatus): readonly string[] {
  return [...containerStatuses, ...initContainerStatuses].map(({ name }) => name);
}

function statusOf(status: PodStatus, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  return [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container);
}

function noSuchContainer(status: PodStatus, container: string): string {
  return `the pod has no container ${container}; it has ${containerNames(status).join(', ') || 'none yet'}`;
}

/** `containerd://0123` without what stands before the id. */
function idOf(containerId: string | undefined): string | undefined {
  const id = containerId?.replace(/^[^:]*:\/\//, '') ?? '';
  return id === '' ? undefined : id;
}
