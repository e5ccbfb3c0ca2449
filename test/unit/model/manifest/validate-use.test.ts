import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { aContainer, aPod, validate } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
type Container = Parameters<typeof aContainer>[0];

/** What is told of a container with this mount of a volume `v`. */
function ofMount(mount: object, more: Container = {}): readonly string[] {
  const volumeMounts = [{ name: 'v', mountPath: '/v', ...mount }];
  return ofContainer({ ...more, volumeMounts }).map((text) => text.replace('volumeMounts[0].', ''));
}

function ofContainer(container: Container, spec: Spec = {}): readonly string[] {
  const volumes = [{ name: 'v', emptyDir: {} }];
  return validate(aPod({ volumes, ...spec, containers: [aContainer(container)] })).map((text) =>
    text.replace('spec.containers[0].', ''),
  );
}

function ofSpec(spec: Spec): readonly string[] {
  return validate(aPod(spec)).map((text) => text.replace('spec.', ''));
}

const TCP = { tcpSocket: { port: 80 } };
const SERVERS = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'];

describe('of the network of a pod', () => {
  it.each([
    {
      rule: 'the dnsPolicy None needs a name server in dnsConfig',
      found: ofSpec({ dnsPolicy: 'None' }),
      told: ['dnsConfig.nameservers: must have at least one name server with the dnsPolicy None'],
    },
    {
      rule: 'dnsConfig names at most three servers',
      found: [
        ...ofSpec({ dnsConfig: { nameservers: SERVERS.slice(1) } }),
        ...ofSpec({ dnsConfig: { nameservers: SERVERS } }),
      ],
      told: ['dnsConfig.nameservers: must not have more than 3 name servers'],
    },
    {
      rule: 'dnsPolicy is one of four words',
      found: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'Nope'].flatMap((dnsPolicy) =>
        ofSpec({ dnsPolicy }),
      ),
      told: ['dnsPolicy: "Nope" must be one of ClusterFirst, ClusterFirstWithHostNet, Default, None'],
    },
    {
      rule: 'a host name is one label of DNS',
      found: ofSpec({ hostname: 'a.b' }),
      told: [
        'hostname: "a.b" must be at most 63 lower case letters, digits and "-", with a letter or digit at both ends',
      ],
    },
    {
      rule: 'hostAliases are of IP addresses',
      found: ofSpec({ hostAliases: [{ ip: 'x', hostnames: ['a.b'] }] }),
      told: ['hostAliases[0].ip: "x" must be an IP address, for example 10.9.8.7 or 2001:db8::1'],
    },
    {
      rule: 'on the network of the node a hostPort is the containerPort',
      found: ofContainer({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true }),
      told: ['ports[0].hostPort: 81 must equal the containerPort in a pod with hostNetwork'],
    },
    {
      rule: 'a hostPort of one protocol is given once in a pod',
      found: ofContainer({
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
          { containerPort: 2, hostPort: 5, protocol: 'UDP' },
        ],
      }),
      told: ['ports[1].hostPort: TCP port 5 is given twice'],
    },
  ])('$rule', ({ found, told }) => {
    expect(found).toEqual(told);
  });
});

describe('of the volumes of a pod', () => {
  it.each([
    {
      rule: 'subPath is relative',
      found: ofMount({ subPath: '/x' }),
      told: ['subPath: "/x" must be a relative path'],
    },
    {
      rule: 'subPath has no ".." in it',
      found: [...ofMount({ subPath: 'x/..y' }), ...ofMount({ subPath: 'x/../y' })],
      told: ['subPath: "x/../y" must not contain ".."'],
    },
    {
      rule: 'subPath and subPathExpr exclude each other',
      found: ofMount({ subPath: 'x', subPathExpr: 'y' }),
      told: ['subPathExpr: must not be given beside subPath'],
    },
    {
      rule: 'only a privileged container mounts in both directions',
      found: [
        ...ofMount({ mountPropagation: 'Bidirectional' }, { securityContext: { privileged: true } }),
        ...ofMount({ mountPropagation: 'Bidirectional' }),
      ],
      told: ['mountPropagation: must not be Bidirectional unless the container is privileged'],
    },
    {
      rule: 'only a mount that is read-only is so all the way down',
      found: [
        ...ofMount({ recursiveReadOnly: 'Enabled', readOnly: true }),
        ...ofMount({ recursiveReadOnly: 'Enabled' }),
      ],
      told: ['recursiveReadOnly: must not be given unless readOnly is true'],
    },
    {
      rule: 'a mount that is read-only all the way down is private',
      found: [
        ...ofMount({ recursiveReadOnly: 'IfPossible', readOnly: true, mountPropagation: 'None' }),
        ...ofMount({ recursiveReadOnly: 'IfPossible', readOnly: true, mountPropagation: 'HostToContainer' }),
      ],
      told: ['recursiveReadOnly: must not be given beside a mountPropagation'],
    },
    {
      rule: 'a volume has one source',
      found: ofSpec({ volumes: [{ name: 'a', emptyDir: {}, hostPath: { path: '/' } }] }),
      told: ['volumes[0].hostPath: must not be given beside emptyDir: a volume has one source'],
    },
    {
      rule: 'a hostPath has no ".." in it',
      found: ofSpec({ volumes: [{ name: 'a', hostPath: { path: '/a/../b' } }] }),
      told: ['volumes[0].hostPath.path: must not contain ".."'],
    },
    {
      rule: 'the type of a hostPath is one of eight words',
      found: ofSpec({ volumes: [{ name: 'a', hostPath: { path: '/a', type: 'Folder' } }] }),
      told: [
        'volumes[0].hostPath.type: "Folder" must be one of "", DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice',
      ],
    },
  ])('$rule', ({ found, told }) => {
    expect(found).toEqual(told);
  });
});

describe('of probes and hooks', () => {
  it.each([
    {
      rule: 'liveness and startup probes have a successThreshold of 1, readiness probes may count further',
      found: ofContainer({
        livenessProbe: { ...TCP, successThreshold: 2 },
        startupProbe: { ...TCP, successThreshold: 2 },
        readinessProbe: { ...TCP, successThreshold: 2 },
      }),
      told: ['livenessProbe', 'startupProbe'].map(
        (probe) => `${probe}.successThreshold: 2 must be 1: only a readiness probe may count further`,
      ),
    },
    {
      rule: 'a readiness probe has no grace of its own',
      found: ofContainer({
        livenessProbe: { ...TCP, terminationGracePeriodSeconds: 5 },
        readinessProbe: { ...TCP, terminationGracePeriodSeconds: 5 },
      }),
      told: ['readinessProbe.terminationGracePeriodSeconds: '],
    },
    {
      rule: 'a probe asks in exactly one way',
      found: [
        ...ofContainer({ readinessProbe: {} }),
        ...ofContainer({ readinessProbe: { ...TCP, exec: { command: ['x'] } } }),
      ],
      told: [
        'readinessProbe: must have one of exec, httpGet, tcpSocket, grpc',
        'readinessProbe.exec: must not be given beside tcpSocket',
      ],
    },
    {
      rule: 'init containers have no probes unless they are sidecars',
      found: ['Always', undefined].flatMap((restartPolicy) =>
        ofSpec({
          initContainers: [
            aContainer({ name: 'i', livenessProbe: TCP, ...(restartPolicy === undefined ? {} : { restartPolicy }) }),
          ],
        }),
      ),
      told: [
        'initContainers[0].livenessProbe: must not be given for an init container unless its restartPolicy is Always',
      ],
    },
    {
      rule: 'a hook sleeps no longer than the grace of its pod',
      found: [30, 31].flatMap((seconds) => ofContainer({ lifecycle: { preStop: { sleep: { seconds } } } })),
      told: ['lifecycle.preStop.sleep: 31 must be between 0 and the terminationGracePeriodSeconds of the pod (30)'],
    },
    {
      rule: 'a hook that connects by tcpSocket is taken',
      found: ofContainer({ lifecycle: { preStop: TCP } }),
      told: [],
    },
    {
      rule: 'what is said at the end goes to a file or falls back to the log',
      found: ['File', 'FallbackToLogsOnError', 'x'].flatMap((terminationMessagePolicy) =>
        ofContainer({ terminationMessagePolicy }),
      ),
      told: ['terminationMessagePolicy: "x" must be one of File, FallbackToLogsOnError'],
    },
  ])('$rule', ({ found, told }) => {
    expect(found.map((text, index) => text.slice(0, told[index]?.length))).toEqual(told);
  });
});
