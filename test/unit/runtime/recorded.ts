import type { Container, Pod, PodSpec, PodUid } from '../../../src/model/pod.ts';
import type { DnsConfig } from '../../../src/model/dns.ts';

/** Pods as the kubelet 1.36 served them when its calls to containerd were recorded. */
export const UID = '0f5a' as PodUid;
export const ROOT = '/root';
export const TERMINATION_LOG = '/root/pods/0f5a/containers/c/00000000';
export const OF_NODE: DnsConfig = {
  servers: ['192.0.2.53'],
  searches: ['corp.test', 'lab.test'],
  options: ['ndots:2', 'timeout:1'],
};
export const ANNOTATIONS: Readonly<Record<string, string>> = {
  'kubernetes.io/config.hash': UID,
  'kubernetes.io/config.seen': '2026-01-01T00:00:00Z',
  'kubernetes.io/config.source': 'file',
};

export function recordedPod(name: string, spec: PodSpec): Pod {
  return {
    metadata: { name, namespace: 'default', uid: UID, annotations: ANNOTATIONS, labels: {} },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 1,
      dnsPolicy: 'ClusterFirst',
      nodeName: 'n1',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
      enableServiceLinks: true,
      ...spec,
    },
  };
}

export function recordedContainer(name: string, more: Partial<Container> = {}): Container {
  return {
    name,
    image: 'busybox:1.35',
    command: ['sleep', '3000'],
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    ...more,
  };
}

export const MINIMAL: Pod = recordedPod('bare-n1', {
  containers: [recordedContainer('only')],
  terminationGracePeriodSeconds: 30,
});
export const HOST_PORT: Pod = recordedPod('port-host-n1', {
  containers: [recordedContainer('main', { ports: [{ hostPort: 18_080, containerPort: 8_080, protocol: 'TCP' }] })],
});
export const HOST_NETWORK: Pod = recordedPod('ns-net-n1', {
  hostNetwork: true,
  containers: [recordedContainer('main', { command: ['sh', '-c', 'hostname; cat /etc/hosts; sleep 3000'] })],
});
export const BURSTABLE: Pod = recordedPod('res-burst-n1', {
  containers: [
    recordedContainer('main', {
      resources: { limits: { cpu: '300m', memory: '96Mi' }, requests: { cpu: '100m', memory: '32Mi' } },
    }),
  ],
});
export const MOUNT_ORDER: Pod = recordedPod('vol-ord-n1', {
  volumes: [
    { name: 'e', emptyDir: {} },
    { name: 'f', emptyDir: {} },
  ],
  containers: [
    recordedContainer('main', {
      volumeMounts: [
        { name: 'e', mountPath: '/v/child' },
        { name: 'f', mountPath: '/v' },
        { name: 'e', mountPath: '/w/../x/' },
      ],
    }),
  ],
});
export const TRIO: Pod = recordedPod('trio-n1', {
  containers: [sleeper('zulu', 'busybox:1.35'), sleeper('alpha', 'busybox:1.36'), sleeper('mike', 'busybox:1.35')],
});

/** With arguments only: the image says what to run. */
function sleeper(name: string, image: string): Container {
  const { command: args, ...rest } = recordedContainer(name, { image });
  return { ...rest, ...(args ? { args } : {}) };
}
