import type { Pod, PodSpec, PodStatus, PodUid } from '../../../../src/model/pod.ts';
import type { NodeView, PodView } from '../../../../src/streams/view/node-view.ts';

export const NODE: NodeView = {
  pods: [],
  problems: [],
  runtime: { ready: true, message: '', name: 'containerd', version: '2.1.9' },
  plegHealthy: true,
  plegMessage: '',
};

/** A pod of one container per name, as it stands in a test. */
export function podView(
  fullName: string,
  containers: readonly string[],
  rest: {
    readonly status?: PodStatus;
    readonly spec?: Partial<PodSpec>;
    readonly phase?: PodView['phase'];
    readonly note?: string;
  } = {},
): PodView {
  const [namespace = '', name = ''] = fullName.split('/');
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${name}` as PodUid, annotations: {}, labels: {} },
    spec: { containers: containers.map((each) => ({ name: each, image: `test/${each}:1` })), ...rest.spec },
  };
  return {
    pod,
    status: rest.status ?? {},
    phase: rest.phase ?? 'syncing',
    ...(rest.note === undefined ? {} : { note: rest.note }),
  };
}

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

export function containerStatus(
  name: string,
  state: ContainerStatus['state'],
  rest: Partial<ContainerStatus> = {},
): ContainerStatus {
  return {
    name,
    image: '',
    imageID: '',
    ready: state?.running !== undefined,
    restartCount: 0,
    ...(state ? { state } : {}),
    ...rest,
  };
}
