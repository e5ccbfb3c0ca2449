import type { ContainerState, ObservedPod, SandboxState } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';

/** What happened to one container or sandbox of a pod; the names are the kubelet's (pleg.PodLifecycleEventType). */
export interface PodLifecycleEvent {
  readonly type: 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged';
  readonly uid: PodUid;
  /** Id of the container, or of the sandbox: both are compared alike. */
  readonly containerId: string;
}

type PlegState = 'running' | 'exited' | 'unknown';

/** Names every change between two observations of one pod, in the order of `after`, then what vanished. */
export function diffPod(before: ObservedPod | undefined, after: ObservedPod | undefined): readonly PodLifecycleEvent[] {
  const uid = (after ?? before)?.uid;
  if (uid === undefined) return [];
  const was = statesOf(before);
  const is = statesOf(after);
  const ids = new Set([...is.keys(), ...was.keys()]);
  return [
    ...[...ids].flatMap((containerId) =>
      transition(was.get(containerId), is.get(containerId)).map((type) => ({ type, uid, containerId })),
    ),
    ...correctedIn(before, after).map((containerId): PodLifecycleEvent => ({
      type: 'ContainerChanged',
      uid,
      containerId,
    })),
  ];
}

/** The containers whose end was believed early, and of which the CRI tells something else. */
function correctedIn(before: ObservedPod | undefined, after: ObservedPod | undefined): readonly string[] {
  return (before?.containers ?? []).flatMap(({ id, early, detail: then }) => {
    const container = early && after?.containers.find((one) => one.id === id && !one.early);
    const now = container?.detail;
    return now && (now.reason !== then?.reason || now.message !== then.message) ? [id] : [];
  });
}

/** Whether two observations tell the same states; much cheaper than listing the differences. */
export function isSamePod(before: ObservedPod | undefined, after: ObservedPod | undefined): boolean {
  if (before === undefined || after === undefined) return isEmpty(before) && isEmpty(after);
  return (
    before.sandboxes.length === after.sandboxes.length &&
    before.containers.length === after.containers.length &&
    before.sandboxes.every(
      ({ id, state }, at) => after.sandboxes[at]?.id === id && after.sandboxes[at].state === state,
    ) &&
    before.containers.every(
      ({ id, state }, at) => after.containers[at]?.id === id && after.containers[at].state === state,
    )
  );
}

export function isEmpty(pod: ObservedPod | undefined): boolean {
  return pod === undefined || (pod.sandboxes.length === 0 && pod.containers.length === 0);
}

function statesOf(pod: ObservedPod | undefined): ReadonlyMap<string, PlegState> {
  if (!pod) return new Map();
  return new Map([
    ...pod.containers.map(({ id, state }) => [id, stateOfContainer(state)] as const),
    ...pod.sandboxes.map(({ id, state }) => [id, stateOfSandbox(state)] as const),
  ]);
}

/** A created container counts as unknown, as in the kubelet: it has neither run nor died yet. */
function stateOfContainer(state: ContainerState): PlegState {
  return state === 'running' || state === 'exited' ? state : 'unknown';
}

function stateOfSandbox(state: SandboxState): PlegState {
  return state === 'ready' ? 'running' : 'exited';
}

function transition(from: PlegState | undefined, to: PlegState | undefined): readonly PodLifecycleEvent['type'][] {
  if (from === to) return [];
  switch (to) {
    case 'running':
      return ['ContainerStarted'];
    case 'exited':
      return ['ContainerDied'];
    case 'unknown':
      return ['ContainerChanged'];
    case undefined:
      return from === 'exited' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved'];
  }
}
