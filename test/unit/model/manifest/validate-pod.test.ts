import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { aContainer, aPod, validate } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
type Container = Parameters<typeof aContainer>[0];

function ofContainer(container: Container, spec: Spec = {}): readonly string[] {
  return validate(aPod({ ...spec, containers: [aContainer(container)] })).map((text) =>
    text.replace('spec.containers[0].', ''),
  );
}

function ofSpec(spec: Spec): readonly string[] {
  return validate(aPod(spec)).map((text) => text.replace('spec.', ''));
}

describe('validatePod', () => {
  it('finds nothing wrong with a pod that uses much', () => {
    const pod = aPod(
      {
        hostNetwork: true,
        hostPID: true,
        dnsPolicy: 'ClusterFirstWithHostNet',
        restartPolicy: 'OnFailure',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [
          { operator: 'Exists' },
          { key: 'a', value: 'b', effect: 'NoSchedule' },
          { key: 'c', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 },
        ],
        hostAliases: [{ ip: '2001:db8::1', hostnames: ['a.b'] }],
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', hostPath: { path: '/b', type: 'Directory' } },
          { name: 'c' },
        ],
        initContainers: [aContainer({ name: 'before', volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
        containers: [
          aContainer({
            ports: [
              { name: 'http', containerPort: 80 },
              { name: 'dns', containerPort: 53, protocol: 'UDP' },
            ],
            env: [
              { name: 'A', value: 'b' },
              { name: 'A', value: 'c' },
              { name: 'with space', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } },
            ],
            resources: { limits: { cpu: '1', memory: '64Mi', 'example.com/gpu': '1' }, requests: { cpu: '500m' } },
            volumeMounts: [
              { name: 'a', mountPath: '/a' },
              { name: 'b', mountPath: '/a/b', readOnly: true, subPath: 'x/..y' },
            ],
            livenessProbe: { tcpSocket: { port: 'http' } },
            lifecycle: { preStop: { sleep: { seconds: 30 } } },
            securityContext: { runAsUser: 0, seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } },
          }),
          aContainer({ name: 'other' }),
        ],
      },
      { namespace: 'team', labels: { 'app.kubernetes.io/name': 'web', empty: '' }, annotations: { 'Any/Case': 'x' } },
    );
    expect(validate(pod)).toEqual([]);
  });

  it.each<[rule: string, metadata: PodDraft['metadata'], field: string]>([
    ['refuses a name in capitals', { name: 'Web' }, 'metadata.name'],
    ['refuses a name with _', { name: 'a_b' }, 'metadata.name'],
    ['refuses a name that the suffix makes too long', { name: 'a'.repeat(250) }, 'metadata.name'],
    ['refuses a namespace with dots', { namespace: 'a.b' }, 'metadata.namespace'],
    ['refuses a label with white space', { labels: { a: 'with space' } }, 'metadata.labels.a'],
    ['refuses a label that is too long', { labels: { a: 'x'.repeat(64) } }, 'metadata.labels.a'],
    ['refuses a label’s key without a name', { labels: { 'a.b/': 'x' } }, 'metadata.labels[a.b/]'],
    ['refuses a label’s key with two /', { labels: { 'a/b/c': 'x' } }, 'metadata.labels[a/b/c]'],
    ['refuses an annotation’s key with white space', { annotations: { 'a b': 'x' } }, 'metadata.annotations[a b]'],
    [
      'refuses an AppArmor profile for no container',
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/other': 'unconfined' } },
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]',
    ],
    ['refuses annotations that are too large', { annotations: { a: 'x'.repeat(262_145) } }, 'metadata.annotations'],
    [
      'refuses the annotation of a mirror pod',
      { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      'metadata.annotations[kubernetes.io/config.mirror]',
    ],
    [
      'refuses an update mode that is none',
      { annotations: { 'rxlet.dev/update': 'later' } },
      'metadata.annotations[rxlet.dev/update]',
    ],
    ...['0s', '301s', '5', 'soon', ''].map((period): [string, { annotations: Record<string, string> }, string] => [
      `#37: refuses the longest restart back-off ${JSON.stringify(period)}`,
      { annotations: { 'rxlet.dev/max-container-restart-period': period } },
      'metadata.annotations[rxlet.dev/max-container-restart-period]',
    ]),
    [
      'refuses an annotation of ours that does not exist',
      { annotations: { 'rxlet.dev/updates': 'prepare' } },
      'metadata.annotations[rxlet.dev/updates]',
    ],
  ])('%s', (_rule, metadata, field) => {
    expect(validate(aPod({}, metadata)).map((text) => text.split(': ')[0])).toEqual([field]);
  });

  it.each<[rule: string, container: Container, problem: string]>([
    ['refuses a container without a name', { name: '' }, 'name: is required'],
    [
      'refuses a container whose name is no DNS label',
      { name: 'Main' },
      'name: "Main" must be at most 63 lower case letters, digits and "-", with a letter or digit at both ends',
    ],
    ['refuses a container without an image', { image: '' }, 'image: is required'],
    ['refuses an image with white space around it', { image: ' a' }, 'image: must have no white space around it'],
    [
      'refuses an unknown imagePullPolicy',
      { imagePullPolicy: 'Often' },
      'imagePullPolicy: "Often" must be one of Always, IfNotPresent, Never',
    ],
    [
      'refuses an unknown terminationMessagePolicy',
      { terminationMessagePolicy: 'x' },
      'terminationMessagePolicy: "x" must be one of File, FallbackToLogsOnError',
    ],
    [
      'refuses an unknown restartPolicy of a container',
      { restartPolicy: 'Sometimes' },
      'restartPolicy: "Sometimes" must be one of Always, OnFailure, Never',
    ],
    [
      'refuses a port without a containerPort',
      { ports: [{ containerPort: 0 }] },
      'ports[0].containerPort: is required',
    ],
    [
      'refuses a containerPort beyond 65535',
      { ports: [{ containerPort: 70_000 }] },
      'ports[0].containerPort: 70000 must be between 1 and 65535',
    ],
    [
      'refuses a negative hostPort',
      { ports: [{ containerPort: 1, hostPort: -1 }] },
      'ports[0].hostPort: -1 must be between 1 and 65535',
    ],
    [
      'refuses an unknown protocol of a port',
      { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
      'ports[0].protocol: "ICMP" must be one of TCP, UDP, SCTP',
    ],
    [
      'refuses a hostIP that is no address',
      { ports: [{ containerPort: 1, hostIP: '1.2.3' }] },
      'ports[0].hostIP: "1.2.3" must be an IP address, for example 10.9.8.7 or 2001:db8::1',
    ],
    [
      'refuses two ports of one name',
      {
        ports: [
          { containerPort: 1, name: 'a' },
          { containerPort: 2, name: 'a' },
        ],
      },
      'ports[1].name: "a" is given twice',
    ],
    [
      'refuses two ports of a container with one hostPort',
      {
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
        ],
      },
      'ports[1].hostPort: TCP port 5 is given twice',
    ],
    ['refuses a variable without a name', { env: [{ value: 'x' }] }, 'env[0].name: is required'],
    [
      'refuses a name of a variable with "="',
      { env: [{ name: 'A=B' }] },
      'env[0].name: "A=B" must be printable ASCII characters without "="',
    ],
    [
      'refuses a variable with both a value and a source of one',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } }] },
      'env[0].valueFrom: must not be given beside a value',
    ],
    [
      'refuses a field that a variable cannot be from',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } }] },
      'env[0].valueFrom.fieldRef.fieldPath: "spec.nothing" must be one of metadata.name, metadata.namespace, metadata.uid, spec.nodeName, spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP, status.podIPs',
    ],
    [
      'refuses a divisor that does not fit the resource',
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } } }] },
      'env[0].valueFrom.resourceFieldRef.divisor: "1Mi" must be one of 1m, 1',
    ],
    [
      'refuses a source of a variable that names none',
      { env: [{ name: 'A', valueFrom: {} }] },
      'env[0].valueFrom: must have one of fieldRef, resourceFieldRef, fileKeyRef, configMapKeyRef or secretKeyRef',
    ],
    [
      'refuses a mount of a volume that the pod does not have',
      { volumeMounts: [{ name: 'ghost', mountPath: '/a' }] },
      'volumeMounts[0].name: the pod has no volume "ghost"',
    ],
    ['refuses a mount without a path', { volumeMounts: [{ name: 'v' }] }, 'volumeMounts[0].mountPath: is required'],
    [
      'refuses two mounts at one path',
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a' },
          { name: 'v', mountPath: '/a' },
        ],
      },
      'volumeMounts[1].mountPath: "/a" is given twice',
    ],
    [
      'refuses a subPath that begins with "/"',
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '/x' }] },
      'volumeMounts[0].subPath: "/x" must be a relative path',
    ],
    [
      'refuses a subPath that leads upwards',
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x/../y' }] },
      'volumeMounts[0].subPath: "x/../y" must not contain ".."',
    ],
    [
      'refuses a subPath and a subPathExpr of one mount',
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: 'y' }] },
      'volumeMounts[0].subPathExpr: must not be given beside subPath',
    ],
    [
      'refuses Bidirectional propagation without privileges',
      { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] },
      'volumeMounts[0].mountPropagation: must not be Bidirectional unless the container is privileged',
    ],
    [
      'refuses recursiveReadOnly where the mount is not read-only',
      { volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] },
      'volumeMounts[0].recursiveReadOnly: must not be given unless readOnly is true',
    ],
    [
      'refuses a negative amount of a resource',
      { resources: { requests: { cpu: '-1' } } },
      'resources.requests.cpu: must not be negative',
    ],
    [
      'refuses a request beyond its limit',
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      'resources.requests.cpu: must not exceed the limit of cpu',
    ],
    [
      'refuses a resource that Kubernetes does not know',
      { resources: { limits: { fuel: '1' } } },
      'resources.limits.fuel: is no resource that Kubernetes knows: cpu, memory, ephemeral-storage, hugepages-<size>, or a name with a domain',
    ],
    [
      'refuses huge pages without cpu or memory',
      { resources: { limits: { 'hugepages-2Mi': '2Mi' } } },
      'resources: must have cpu or memory beside huge pages',
    ],
    [
      'refuses huge pages that are no whole pages',
      { resources: { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } } },
      'resources.limits[hugepages-2Mi]: must be a multiple of the page size',
    ],
    [
      'refuses parts of an extended resource',
      { resources: { limits: { 'a.b/c': '0.5' } } },
      'resources.limits[a.b/c]: must be a whole number',
    ],
    [
      'refuses a request of an extended resource without its limit',
      { resources: { requests: { 'a.b/c': '1' } } },
      'resources.limits: must have a limit of a.b/c, as it is requested',
    ],
    [
      'refuses a probe that asks nothing',
      { readinessProbe: {} },
      'readinessProbe: must have one of exec, httpGet, tcpSocket, grpc',
    ],
    [
      'refuses an exec probe without a command',
      { readinessProbe: { exec: {} } },
      'readinessProbe.exec.command: is required',
    ],
    [
      'refuses a probe that asks in two ways',
      { readinessProbe: { tcpSocket: { port: 1 }, exec: { command: ['x'] } } },
      'readinessProbe.exec: must not be given beside tcpSocket',
    ],
    [
      'refuses the port 0 of a probe',
      { readinessProbe: { tcpSocket: { port: 0 } } },
      'readinessProbe.tcpSocket.port: 0 must be between 1 and 65535',
    ],
    [
      'refuses an unknown scheme of a probe',
      { readinessProbe: { httpGet: { port: 1, scheme: 'FTP' } } },
      'readinessProbe.httpGet.scheme: "FTP" must be one of HTTP, HTTPS',
    ],
    [
      'refuses a negative period of a probe',
      { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } },
      'readinessProbe.periodSeconds: -1 must be between 0 and 2147483647',
    ],
    [
      'refuses a liveness probe that is to succeed twice',
      { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } },
      'livenessProbe.successThreshold: 2 must be 1: only a readiness probe may count further',
    ],
    [
      'refuses a hook that does nothing',
      { lifecycle: { preStop: {} } },
      'lifecycle.preStop: must have one of exec, httpGet, tcpSocket, sleep',
    ],
    [
      'refuses a hook that sleeps longer than the grace of its pod',
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      'lifecycle.preStop.sleep: 31 must be between 0 and the terminationGracePeriodSeconds of the pod (30)',
    ],
    [
      'refuses a stop signal where the pod does not name its system',
      { lifecycle: { stopSignal: 'SIGTERM' } },
      'lifecycle.stopSignal: must not be given without spec.os.name',
    ],
    [
      'refuses to deny a privileged container the gain of privileges',
      { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
      'securityContext.allowPrivilegeEscalation: must not be false in a privileged container',
    ],
    [
      'refuses a negative user number',
      { securityContext: { runAsUser: -1 } },
      'securityContext.runAsUser: -1 must be between 0 and 2147483647',
    ],
    [
      'refuses an unmasked /proc where the pod shares the users of the node',
      { securityContext: { procMount: 'Unmasked' } },
      'securityContext.procMount: must not be Unmasked unless hostUsers is false',
    ],
    [
      'refuses a Localhost profile without its file',
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      'securityContext.seccompProfile.localhostProfile: is required with the type Localhost',
    ],
    [
      'refuses a file of a profile that is not Localhost',
      { securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'x' } } },
      'securityContext.seccompProfile.localhostProfile: must only be given with the type Localhost',
    ],
  ])('%s', (_rule, container, problem) => {
    expect(ofContainer(container, { volumes: [{ name: 'v' }] })).toEqual([problem]);
  });

  it.each<[rule: string, spec: Spec, problem: string]>([
    ['refuses a pod without containers', { containers: [] }, 'containers: is required'],
    [
      'refuses two containers of one name',
      { containers: [aContainer(), aContainer()] },
      'containers[1].name: "main" is given twice',
    ],
    [
      'refuses an init container with the name of a container',
      { initContainers: [aContainer()] },
      'initContainers[0].name: "main" is given twice',
    ],
    [
      'refuses a probe of an init container that does not run on',
      { initContainers: [aContainer({ name: 'i', livenessProbe: { tcpSocket: { port: 1 } } })] },
      'initContainers[0].livenessProbe: must not be given for an init container unless its restartPolicy is Always',
    ],
    [
      'refuses an unknown restartPolicy of a pod',
      { restartPolicy: 'Sometimes' },
      'restartPolicy: "Sometimes" must be one of Always, OnFailure, Never',
    ],
    [
      'refuses the dnsPolicy None without a name server',
      { dnsPolicy: 'None' },
      'dnsConfig.nameservers: must have at least one name server with the dnsPolicy None',
    ],
    [
      'refuses a name server that is no address',
      { dnsConfig: { nameservers: ['300.1.1.1'] } },
      'dnsConfig.nameservers[0]: "300.1.1.1" must be an IP address, for example 10.9.8.7 or 2001:db8::1',
    ],
    [
      'refuses more than three name servers',
      { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '::1'] } },
      'dnsConfig.nameservers: must not have more than 3 name servers',
    ],
    [
      'refuses a deadline of 0 s',
      { activeDeadlineSeconds: 0 },
      'activeDeadlineSeconds: 0 must be between 1 and 2147483647',
    ],
    [
      'refuses to share processes both among containers and with the node',
      { hostPID: true, shareProcessNamespace: true },
      'shareProcessNamespace: must not be true beside hostPID',
    ],
    [
      'refuses hostNetwork where the pod has users of its own',
      { hostUsers: false, hostNetwork: true },
      'hostNetwork: must not be true when hostUsers is false',
    ],
    [
      'refuses a hostname that is no DNS label',
      { hostname: 'a.b' },
      'hostname: "a.b" must be at most 63 lower case letters, digits and "-", with a letter or digit at both ends',
    ],
    [
      'refuses an alias of a host without an address',
      { hostAliases: [{ ip: 'x' }] },
      'hostAliases[0].ip: "x" must be an IP address, for example 10.9.8.7 or 2001:db8::1',
    ],
    [
      'refuses a volume with two sources',
      { volumes: [{ name: 'a', emptyDir: {}, hostPath: { path: '/' } }] },
      'volumes[0].hostPath: must not be given beside emptyDir: a volume has one source',
    ],
    [
      'refuses two volumes of one name',
      { volumes: [{ name: 'a' }, { name: 'a' }] },
      'volumes[1].name: "a" is given twice',
    ],
    ['refuses a volume without a name', { volumes: [{ emptyDir: {} }] }, 'volumes[0].name: is required'],
    [
      'refuses a hostPath that leads upwards',
      { volumes: [{ name: 'a', hostPath: { path: '/a/../b' } }] },
      'volumes[0].hostPath.path: must not contain ".."',
    ],
    [
      'refuses an unknown type of a hostPath',
      { volumes: [{ name: 'a', hostPath: { path: '/a', type: 'Folder' } }] },
      'volumes[0].hostPath.type: "Folder" must be one of "", DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice',
    ],
    [
      'refuses a negative size of an emptyDir',
      { volumes: [{ name: 'a', emptyDir: { sizeLimit: '-1' } }] },
      'volumes[0].emptyDir.sizeLimit: must not be negative',
    ],
    [
      'refuses a toleration with Exists and a value',
      { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
      'tolerations[0].value: must be empty with the operator Exists',
    ],
    [
      'refuses a toleration without a key that is not Exists',
      { tolerations: [{ value: 'b' }] },
      'tolerations[0].operator: must be Exists when no key is given',
    ],
    [
      'refuses a toleration for a time of another effect than NoExecute',
      { tolerations: [{ key: 'a', tolerationSeconds: 1 }] },
      'tolerations[0].effect: must be NoExecute when tolerationSeconds is given',
    ],
    [
      'refuses gates of scheduling, as the pod has its node',
      { schedulingGates: [{ name: 'a' }] },
      'schedulingGates: must not be given: the pod already has its node',
    ],
    [
      'refuses ephemeral containers',
      { ephemeralContainers: [{ name: 'e', image: 'x' }] },
      'ephemeralContainers: must not be given in a manifest',
    ],
    [
      'refuses sysctls of the network in a pod with hostNetwork',
      { securityContext: { sysctls: [{ name: 'net.ipv4.x', value: '1' }] }, hostNetwork: true },
      'securityContext.sysctls[0].name: net.ipv4.x must not be given in a pod with hostNetwork',
    ],
    [
      'refuses sysctls of the network with slashes in a pod with hostNetwork',
      { securityContext: { sysctls: [{ name: 'net/ipv4/x', value: '1' }] }, hostNetwork: true },
      'securityContext.sysctls[0].name: net.ipv4.x must not be given in a pod with hostNetwork',
    ],
    [
      'refuses a restart for a resize in a pod that never restarts',
      {
        restartPolicy: 'Never',
        containers: [aContainer({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })],
      },
      'containers[0].resizePolicy[0].restartPolicy: must be NotRequired in a pod that never restarts',
    ],
    [
      'refuses affinity to pods without a topologyKey',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      'affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: is required',
    ],
    [
      'refuses required affinity to nodes without a term',
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } },
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: must have at least one term',
    ],
    ['refuses an unknown operating system', { os: { name: 'beos' } }, 'os.name: "beos" must be one of linux, windows'],
    [
      'refuses a hostPort that is not the containerPort in a pod with hostNetwork',
      { hostNetwork: true, containers: [aContainer({ ports: [{ containerPort: 80, hostPort: 81 }] })] },
      'containers[0].ports[0].hostPort: 81 must equal the containerPort in a pod with hostNetwork',
    ],
  ])('%s', (_rule, spec, problem) => {
    expect(ofSpec(spec)).toEqual([problem]);
  });

  it('tells everything that is wrong at once', () => {
    const problems = ofSpec({
      containers: [{ name: 'A', ports: [{}], env: [{}], volumeMounts: [{ name: 'q' }] }],
      restartPolicy: 'Nope',
      dnsPolicy: 'Nope',
    });
    expect(problems.map((text) => text.split(': ')[0])).toEqual([
      'containers[0].name',
      'containers[0].image',
      'containers[0].ports[0].containerPort',
      'containers[0].env[0].name',
      'containers[0].volumeMounts[0].name',
      'containers[0].volumeMounts[0].mountPath',
      'restartPolicy',
      'dnsPolicy',
    ]);
  });
});
