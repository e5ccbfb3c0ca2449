import type { Pod, PodUid } from '../pod.ts';

/** The keys by which the kubelet finds its own objects again (facts sheet 10); ours are the same, to the letter. */
export const POD_NAME = 'io.kubernetes.pod.name';
export const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
export const POD_UID = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME = 'io.kubernetes.container.name';
export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const CONTAINER_PORTS = 'io.kubernetes.container.ports';
export const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
export const TERMINATION_GRACE = 'io.kubernetes.pod.terminationGracePeriod';
export const DELETION_GRACE = 'io.kubernetes.pod.deletionGracePeriod';

/** Ours: stands for the objects that the variables of a container are from. */
export const CONFIG_HASH = 'rxlet.dev/config-hash';
/** Ours, with any value: the command holds what a Secret says, so what the runtime says of it is not told. */
export const SECRET_IN_COMMAND = 'rxlet.dev/secret-in-command';

/** Whose an object of the runtime is; absent on what is not a pod's. */
export function podLabels({
  metadata: { name, namespace, uid },
}: Pick<Pod, 'metadata'>): Readonly<Record<string, string>> {
  return { [POD_NAME]: name, [POD_NAMESPACE]: namespace, [POD_UID]: uid };
}

export function uidLabel(labels: Readonly<Record<string, string>> | undefined): PodUid | undefined {
  const uid = labels?.[POD_UID];
  return uid === undefined || uid === '' ? undefined : (uid as PodUid);
}
