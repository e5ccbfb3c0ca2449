import type { AdmissionNode } from '../../../../src/model/admission/admission-node.ts';
import type { Pod, PodSpec, PodUid } from '../../../../src/model/pod.ts';

/** Two processors, 4 GiB, three pods. */
export const NODE: AdmissionNode = {
  nodeName: 'n1',
  labels: { 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux', disk: 'ssd', cores: '4' },
  taints: [],
  allocatable: { cpu: 2_000, memory: 4 * 2 ** 30, pods: 3, 'hugepages-2Mi': 0, 'ephemeral-storage': 10 * 2 ** 30 },
  appArmor: false,
  allowedUnsafeSysctls: [],
  supplementalGroupsPolicy: false,
};

export type Asked = Partial<PodSpec> & {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
  readonly ports?: NonNullable<PodSpec['containers'][number]['ports']>;
};

/** A pod of the node's own, unless its source is said to be `api`. */
export function podThat(asked: Asked = {}, uid = 'a', source = 'file'): Pod {
  const { requests, limits, ports, ...spec } = asked;
  return {
    metadata: {
      uid: uid as PodUid,
      name: uid,
      namespace: 'default',
      labels: {},
      annotations: { 'kubernetes.io/config.source': source },
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'busybox',
          ...(ports ? { ports } : {}),
          ...(requests || limits
            ? { resources: { ...(requests ? { requests } : {}), ...(limits ? { limits } : {}) } }
            : {}),
        },
      ],
      ...spec,
    },
  };
}
