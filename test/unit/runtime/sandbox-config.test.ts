import { describe, expect, it } from 'vitest';
import type { NamespaceOption } from '../../../src/model/cri/api.ts';
import type { Container, Pod, PodSpec } from '../../../src/model/pod.ts';
import { containerConfig } from '../../../src/runtime/container-config.ts';
import { sandboxConfig } from '../../../src/runtime/sandbox-config.ts';
import { context, pod, wanted } from '../../marbles/fakes.ts';
import * as recorded from './recorded.ts';
import { onWire } from './wire-form.ts';

const AT_LEAST = { cpuPeriod: 100_000, cpuShares: 2 };

/** What is the same in every recording. */
function recordedSandbox(name: string, more: object, linux: object = {}): object {
  return {
    metadata: { name, uid: recorded.UID, namespace: 'default' },
    hostname: name,
    logDirectory: `/logs/default_${name}_${recorded.UID}`,
    dnsConfig: recorded.OF_NODE,
    labels: {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': recorded.UID,
    },
    annotations: recorded.ANNOTATIONS,
    linux: {
      cgroupParent: `/kubepods/besteffort/pod${recorded.UID}`,
      securityContext: { namespaceOptions: { pid: 'CONTAINER', usernsOptions: { mode: 'NODE' } }, seccomp: {} },
      overhead: {},
      resources: AT_LEAST,
      ...linux,
    },
    ...more,
  };
}

describe('sandboxConfig', () => {
  it.each<[string, Pod, object]>([
    ['basics/01-minimal', recorded.MINIMAL, recordedSandbox('bare-n1', {})],
    ['basics/10-three-containers', recorded.TRIO, recordedSandbox('trio-n1', {})],
    [
      'ports/02-hostport',
      recorded.HOST_PORT,
      recordedSandbox('port-host-n1', { portMappings: [{ containerPort: 8_080, hostPort: 18_080 }] }),
    ],
    [
      'namespaces/01-hostnetwork',
      recorded.HOST_NETWORK,
      recordedSandbox(
        'ns-net-n1',
        { hostname: '' },
        {
          securityContext: {
            namespaceOptions: { network: 'NODE', pid: 'CONTAINER', usernsOptions: { mode: 'NODE' } },
            seccomp: {},
          },
        },
      ),
    ],
    [
      'resources/02-burstable',
      recorded.BURSTABLE,
      recordedSandbox(
        'res-burst-n1',
        {},
        {
          cgroupParent: `/kubepods/burstable/pod${recorded.UID}`,
          resources: { cpuPeriod: 100_000, cpuQuota: 30_000, cpuShares: 102, memoryLimitInBytes: 100_663_296 },
        },
      ),
    ],
    ['volumes/13-mount-order', recorded.MOUNT_ORDER, recordedSandbox('vol-ord-n1', {})],
  ])('is what the kubelet sent in its recording %s', (_case, of, expected) => {
    expect(onWire('PodSandboxConfig', sandboxConfig(of, 0, recorded.OF_NODE, context()))).toEqual(
      onWire('PodSandboxConfig', expected),
    );
  });

  const config = (of: Pod, more: Parameters<typeof context>[0] = {}) =>
    sandboxConfig(of, 2, recorded.OF_NODE, context(more));

  it('labels a sandbox with the labels of the pod, and over them with its name, namespace and uid', () => {
    const { metadata, labels } = config(
      pod({ metadata: { labels: { app: 'web', 'io.kubernetes.pod.uid': 'forged' } } }),
    );
    expect(metadata?.attempt).toBe(2);
    expect(labels).toMatchObject({ app: 'web', 'io.kubernetes.pod.uid': 'u-1' });
  });

  it('shares with the node what the pod wants to share', () => {
    const { linux } = config(pod({ spec: { hostPID: true, hostIPC: true } }));
    expect(linux?.securityContext?.namespaceOptions).toMatchObject({ network: 'POD', pid: 'NODE', ipc: 'NODE' });
  });

  it.each<[string, Container['ports'], readonly object[] | undefined]>([
    [
      'one port of two protocols is mapped twice',
      [
        { containerPort: 53, protocol: 'UDP' },
        { containerPort: 53, protocol: 'TCP' },
      ],
      [
        { protocol: 'UDP', containerPort: 53, hostPort: 0, hostIp: '' },
        { protocol: 'TCP', containerPort: 53, hostPort: 0, hostIp: '' },
      ],
    ],
    [
      'one port of one protocol is mapped once, though a container lists it twice',
      [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP', name: '' }],
      [{ protocol: 'TCP', containerPort: 80, hostPort: 0, hostIp: '' }],
    ],
    [
      'maps ports without a host port, too',
      [{ containerPort: 80 }],
      [{ protocol: 'TCP', containerPort: 80, hostPort: 0, hostIp: '' }],
    ],
    [
      'maps ports of one name once, be they of other numbers',
      [
        { name: 'web', containerPort: 80 },
        { name: 'web', containerPort: 81 },
      ],
      [{ protocol: 'TCP', containerPort: 80, hostPort: 0, hostIp: '' }],
    ],
    ['maps nothing for a pod without ports', [], undefined],
    [
      'a host port is mapped by the runtime, on the address that it names',
      [{ name: 'web', containerPort: 80, hostPort: 8_080, hostIP: '127.0.0.1', protocol: 'SCTP' }],
      [{ protocol: 'SCTP', containerPort: 80, hostPort: 8_080, hostIp: '127.0.0.1' }],
    ],
  ])('%s', (_rule, ports, mappings) => {
    const { portMappings } = config(pod({ spec: { containers: [wanted('main', { ...(ports ? { ports } : {}) })] } }));
    expect(portMappings).toEqual(mappings);
  });

  it('maps the ports of regular containers alone, each container for itself', () => {
    const ports = [{ containerPort: 80 }];
    const { portMappings } = config(
      pod({
        spec: {
          containers: [wanted('a', { ports }), wanted('b', { ports })],
          initContainers: [wanted('i', { ports: [{ containerPort: 81 }] })],
        },
      }),
    );
    expect(portMappings?.map(({ containerPort }) => containerPort)).toEqual([80, 80]);
  });

  it.each<[string, Partial<PodSpec>, NamespaceOption]>([
    [
      'gives a pod a network and IPC of its own, and each of its containers processes of its own',
      {},
      { network: 'POD', ipc: 'POD', pid: 'CONTAINER' },
    ],
    [
      'shares the network of the node under hostNetwork',
      { hostNetwork: true },
      { network: 'NODE', ipc: 'POD', pid: 'CONTAINER' },
    ],
    ['shares the IPC of the node under hostIPC', { hostIPC: true }, { network: 'POD', ipc: 'NODE', pid: 'CONTAINER' }],
    ['shares the processes of the node under hostPID', { hostPID: true }, { network: 'POD', ipc: 'POD', pid: 'NODE' }],
    [
      'shares processes among the containers of a pod under shareProcessNamespace',
      { shareProcessNamespace: true },
      { network: 'POD', ipc: 'POD', pid: 'POD' },
    ],
  ])('%s', (_rule, spec, expected) => {
    const of = pod({ spec });
    const making = { restartCount: 0, image: { ref: 'i' }, environment: new Map(), terminationLog: '/log' };
    const ofSandbox = config(of).linux?.securityContext?.namespaceOptions;
    const ofContainer = containerConfig(of, wanted(), making, context()).linux?.securityContext?.namespaceOptions;
    expect([ofSandbox, ofContainer]).toEqual([
      { ...expected, usernsOptions: { mode: 'NODE' } },
      { ...expected, usernsOptions: { mode: 'NODE' } },
    ]);
  });

  it('names a sandbox by name, namespace, uid and attempt of the pod', () => {
    expect(config(pod()).metadata).toEqual({ name: 'web', namespace: 'default', uid: 'u-1', attempt: 2 });
  });

  it('gives a sandbox the annotations of the pod and no others', () => {
    const annotations = { mine: '1', 'kubernetes.io/config.source': 'file' };
    expect(config(pod({ metadata: { annotations } })).annotations).toEqual(annotations);
  });

  it('puts the logs of a pod into a folder of its namespace, name and uid', () => {
    expect(config(pod()).logDirectory).toBe('/logs/default_web_u-1');
  });

  it('gives a sandbox a host name, but none on the network of the node', () => {
    expect(config(pod()).hostname).toBe('web');
    expect(config(pod({ spec: { hostNetwork: true } }))).not.toHaveProperty('hostname');
  });

  it('puts a sandbox into the cgroup of its pod, by its QoS class, in the form of the driver', () => {
    const { facts } = context();
    const requests = { cpu: '1' };
    const burstable = pod({ spec: { containers: [wanted('main', { resources: { requests } })] } });
    expect(config(burstable).linux?.cgroupParent).toBe('/kubepods/burstable/podu-1');
    const underSystemd = config(burstable, { facts: { ...facts, cgroupDriver: 'systemd' } }).linux?.cgroupParent;
    expect(underSystemd).toBe('/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice');
  });

  it('shares the processes of one container with the others where the pod says so', () => {
    const { linux } = config(pod({ spec: { shareProcessNamespace: true } }));
    expect(linux?.securityContext?.namespaceOptions?.pid).toBe('POD');
  });

  it('is privileged, has the groups and the sysctls of the pod, and tells the overhead apart from the resources', () => {
    const { linux } = config(
      pod({
        spec: {
          containers: [wanted('main', { securityContext: { privileged: true } })],
          securityContext: { fsGroup: 40, sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1 2 3' }] },
          overhead: { memory: '8Mi' },
        },
      }),
    );
    expect(linux?.securityContext).toMatchObject({ privileged: true, supplementalGroups: [40] });
    expect(linux?.sysctls).toEqual({ 'net.ipv4.tcp_rmem': '1 2 3' });
    expect(linux?.overhead).toMatchObject({ memoryLimitInBytes: 8_388_608 });
    expect(linux?.resources).not.toHaveProperty('memoryLimitInBytes');
  });

  it('stands in the root of the cgroups where there is no tree for pods', () => {
    const { config: defaults } = context();
    const parentIn = (cgroupRoot: string): string | undefined =>
      config(pod(), { config: { ...defaults, cgroupsPerQOS: false, cgroupRoot } }).linux?.cgroupParent;
    expect(parentIn('/')).toBeUndefined();
    expect(parentIn('')).toBeUndefined();
    expect(parentIn('/mine')).toBe('/mine');
  });
});
