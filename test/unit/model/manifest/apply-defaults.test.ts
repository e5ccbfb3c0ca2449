import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../src/model/manifest/apply-defaults.ts';
import { defaultPullPolicy } from '../../../../src/model/manifest/pull-policy.ts';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { aContainer, aPod } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
type Container = NonNullable<Parameters<typeof aContainer>[0]>;
type Volume = NonNullable<Spec['volumes']>[number];
type Resources = NonNullable<Container['resources']>;

describe('applyDefaults', () => {
  it('fills in a bare pod', () => {
    expect(applyDefaults(aPod()).spec).toEqual({
      containers: [
        {
          name: 'main',
          image: 'busybox:1',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      securityContext: {},
    });
  });

  it('changes nothing when it is asked again', () => {
    const once = applyDefaults(
      aPod({
        hostNetwork: true,
        containers: [
          aContainer({
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: '0.5' } },
            livenessProbe: { httpGet: { port: 80 } },
          }),
        ],
        volumes: [{ name: 'a' }, { name: 'b', hostPath: { path: '/x' } }],
      }),
    );
    expect(applyDefaults(once)).toEqual(once);
  });

  it('takes empty strings for absent where the API does', () => {
    const { spec } = applyDefaults(
      aPod({
        restartPolicy: '',
        dnsPolicy: '',
        containers: [aContainer({ imagePullPolicy: '', terminationMessagePath: '' })],
      }),
    );
    expect(spec).toMatchObject({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' });
    expect(spec?.containers?.[0]).toMatchObject({
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
    });
  });

  it.each<[rule: string, given: Spec, settled: Spec]>([
    ['restarts the containers of a pod always where no policy is given', {}, { restartPolicy: 'Always' }],
    ['resolves names by the cluster first where no policy is given', {}, { dnsPolicy: 'ClusterFirst' }],
    ['gives a pod 30 seconds to end where no grace is given', {}, { terminationGracePeriodSeconds: 30 }],
    [
      'takes a negative grace period for the shortest',
      { terminationGracePeriodSeconds: -5 },
      { terminationGracePeriodSeconds: 1 },
    ],
    [
      'leaves a grace period of nothing as it is',
      { terminationGracePeriodSeconds: 0 },
      { terminationGracePeriodSeconds: 0 },
    ],
    ['names the scheduler of a pod that names none', {}, { schedulerName: 'default-scheduler' }],
    ['gives a pod an empty security context where it has none', {}, { securityContext: {} }],
    ['links a pod to its services where it does not say', {}, { enableServiceLinks: true }],
    ['leaves a pod unlinked that wants it so', { enableServiceLinks: false }, { enableServiceLinks: false }],
    [
      'writes names of sysctls with dots',
      {
        securityContext: {
          sysctls: [
            { name: 'net/ipv4/conf/eth0.1/x', value: '1' },
            { name: 'kernel.a/b', value: '2' },
          ],
        },
      },
      {
        securityContext: {
          sysctls: [
            { name: 'net.ipv4.conf.eth0/1.x', value: '1' },
            { name: 'kernel.a/b', value: '2' },
          ],
        },
      },
    ],
    [
      'gives an account under its older name too',
      { serviceAccountName: 'robot' },
      { serviceAccountName: 'robot', serviceAccount: 'robot' },
    ],
    [
      'gives an account under its newer name too',
      { serviceAccount: 'robot' },
      { serviceAccountName: 'robot', serviceAccount: 'robot' },
    ],
    [
      'fills in init containers as it does the others',
      {
        initContainers: [
          aContainer({
            name: 'init',
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: '1' } },
            startupProbe: { httpGet: { port: 80 } },
          }),
        ],
      },
      {
        initContainers: [
          {
            name: 'init',
            image: 'busybox:1',
            imagePullPolicy: 'IfNotPresent',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            resources: { limits: { cpu: '1' }, requests: { cpu: '1' } },
            startupProbe: {
              httpGet: { port: 80, path: '/', scheme: 'HTTP' },
              timeoutSeconds: 1,
              periodSeconds: 10,
              successThreshold: 1,
              failureThreshold: 3,
            },
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
          },
        ],
      },
    ],
  ])('%s', (_rule, given, settled) => {
    const spec = applyDefaults(aPod(given)).spec ?? {};
    for (const [field, value] of Object.entries(settled)) expect(spec).toHaveProperty(field, value);
  });

  it.each<[rule: string, given: Container, settled: Container]>([
    [
      'has the message of an end read from /dev/termination-log where no path is given',
      {},
      { terminationMessagePath: '/dev/termination-log' },
    ],
    [
      'has the message of an end read from its file only where nothing else is said',
      {},
      { terminationMessagePolicy: 'File' },
    ],
    [
      'takes a port for one of TCP where it does not say, and opens none on the node by itself',
      { ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'UDP' }] },
      {
        ports: [
          { containerPort: 80, protocol: 'TCP' },
          { containerPort: 81, protocol: 'UDP' },
        ],
      },
    ],
    [
      'requests of a resource what it is limited to, where it does not say how much',
      { resources: { limits: { cpu: '1', memory: '1Gi' } } },
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } } },
    ],
    [
      'leaves a request beside a limit as it is',
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { memory: '5k' } } },
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '5k' } } },
    ],
    [
      'limits nothing because it is requested',
      { resources: { requests: { cpu: '1' } } },
      { resources: { requests: { cpu: '1' } } },
    ],
    [
      'rounds quantities up to thousandths',
      { resources: { limits: { cpu: '0.1234', memory: '100m' }, requests: { cpu: '0.0001', memory: '0.0001' } } },
      { resources: { limits: { cpu: '124m', memory: '100m' }, requests: { cpu: '1m', memory: '1m' } } },
    ],
    [
      'writes quantities in their canonical form',
      { resources: { limits: { cpu: '0.5', memory: '1024Ki' }, requests: { cpu: '500m', memory: '500000' } } },
      { resources: { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '500m', memory: '500k' } } },
    ],
    ...(['livenessProbe', 'readinessProbe', 'startupProbe'] as const).map((probe): [string, Container, Container] => [
      `asks a ${probe} every 10 s, for 1 s, and counts 1 success and 3 failures, where it does not say`,
      { [probe]: { tcpSocket: { port: 80 } } },
      {
        [probe]: {
          tcpSocket: { port: 80 },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ]),
    [
      'takes a 0 in a probe for nothing said, and leaves what is said',
      { readinessProbe: { tcpSocket: { port: 80 }, timeoutSeconds: 0, periodSeconds: 3, failureThreshold: 5 } },
      {
        readinessProbe: {
          tcpSocket: { port: 80 },
          timeoutSeconds: 1,
          periodSeconds: 3,
          successThreshold: 1,
          failureThreshold: 5,
        },
      },
    ],
    [
      'asks for / by HTTP where an httpGet of a probe does not say',
      { livenessProbe: { httpGet: { port: 80 } } },
      {
        livenessProbe: {
          httpGet: { port: 80, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
    [
      'asks for / by HTTP where an httpGet of a hook does not say',
      {
        lifecycle: {
          postStart: { httpGet: { port: 80, scheme: 'HTTPS' } },
          preStop: { httpGet: { port: 80, path: '/bye' } },
        },
      },
      {
        lifecycle: {
          postStart: { httpGet: { port: 80, path: '/', scheme: 'HTTPS' } },
          preStop: { httpGet: { port: 80, path: '/bye', scheme: 'HTTP' } },
        },
      },
    ],
    [
      'asks the whole server where a grpc probe names no service',
      { startupProbe: { grpc: { port: 9 } } },
      {
        startupProbe: {
          grpc: { port: 9, service: '' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
    [
      'takes a field of a variable for one of v1',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }] },
    ],
    [
      'leaves the divisor of a resource to who reads it',
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] },
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } } }] },
    ],
    [
      'needs the key of a file unless it is said to be optional',
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'k' } } }] },
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'k', optional: false } } }] },
    ],
  ])('%s', (_rule, given, settled) => {
    const container = applyDefaults(aPod({ containers: [aContainer(given)] })).spec?.containers?.[0] ?? {};
    for (const [field, value] of Object.entries(settled)) expect(container).toHaveProperty(field, value);
  });

  it('opens the ports of a pod with hostNetwork on the node', () => {
    const containers = [
      aContainer({
        ports: [
          { containerPort: 80 },
          { containerPort: 81, hostPort: 81, protocol: 'UDP' },
          { containerPort: 82, hostPort: 0 },
        ],
      }),
    ];
    expect(applyDefaults(aPod({ containers, hostNetwork: true })).spec?.containers?.[0]?.ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: 'TCP' },
      { containerPort: 81, hostPort: 81, protocol: 'UDP' },
      { containerPort: 82, hostPort: 82, protocol: 'TCP' },
    ]);
  });

  it.each<[rule: string, given: Volume, settled: Volume]>([
    ['makes a volume without a source an emptyDir', {}, { emptyDir: {} }],
    [
      'asks nothing of what is at a hostPath without a type',
      { hostPath: { path: '/x' } },
      { hostPath: { path: '/x', type: '' } },
    ],
    [
      'leaves the type of a hostPath as it is',
      { hostPath: { path: '/x', type: 'Socket' } },
      { hostPath: { path: '/x', type: 'Socket' } },
    ],
    [
      'writes the size of an emptyDir in its canonical form',
      { emptyDir: { sizeLimit: '1024Mi' } },
      { emptyDir: { sizeLimit: '1Gi' } },
    ],
    [
      'gives the files of a configMap the mode 0644',
      { configMap: { name: 'c' } },
      { configMap: { name: 'c', defaultMode: 0o644 } },
    ],
    [
      'gives the files of a secret the mode 0644',
      { secret: { secretName: 's' } },
      { secret: { secretName: 's', defaultMode: 0o644 } },
    ],
    [
      'gives the files of the downward API the mode 0644, and takes their fields for those of v1',
      { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
      {
        downwardAPI: {
          defaultMode: 0o644,
          items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }],
        },
      },
    ],
    [
      'gives the files of a projected volume the mode 0644, and takes their fields for those of v1',
      {
        projected: {
          sources: [{ downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } }],
        },
      },
      {
        projected: {
          defaultMode: 0o644,
          sources: [
            { downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
    ],
    ['leaves a mode that is given', { secret: { defaultMode: 0o400 } }, { secret: { defaultMode: 0o400 } }],
    [
      'lets a token of a service account last for an hour',
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
    ],
    [
      'pulls the image of a volume as that of a container',
      { image: { reference: 'busybox' } },
      { image: { reference: 'busybox', pullPolicy: 'Always' } },
    ],
  ])('%s', (_rule, given, settled) => {
    expect(applyDefaults(aPod({ volumes: [{ name: 'v', ...given }] })).spec?.volumes).toEqual([
      { name: 'v', ...settled },
    ]);
  });

  it.each<[rule: string, pod: Resources, ofContainers: Resources, requests: object]>([
    [
      'lets a pod that limits itself as a whole request as much',
      { limits: { cpu: '1', memory: '1Gi' } },
      {},
      { cpu: '1', memory: '1Gi' },
    ],
    [
      'lets it request what its containers do where they say, and as much as the limit where they do not',
      { limits: { cpu: '1', memory: '1Gi' } },
      { requests: { cpu: '200m' } },
      { cpu: '400m', memory: '1Gi' },
    ],
    [
      'lets it request what it says itself before both',
      { limits: { cpu: '1' }, requests: { cpu: '300m' } },
      { requests: { cpu: '200m' } },
      { cpu: '300m' },
    ],
    [
      'lets it request as many huge pages as its limit, whatever its containers say',
      { limits: { cpu: '1', 'hugepages-2Mi': '8Mi' } },
      { limits: { 'hugepages-2Mi': '2Mi' } },
      { cpu: '1', 'hugepages-2Mi': '8Mi' },
    ],
  ])('%s', (_rule, resources, ofContainers, requests) => {
    const containers = ['a', 'b'].map((name) => aContainer({ name, resources: ofContainers }));
    expect(applyDefaults(aPod({ containers, resources })).spec?.resources).toEqual({
      limits: resources.limits,
      requests,
    });
  });
});

describe('defaultPullPolicy', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  it.each([
    ['is Always for an image without a tag', 'busybox', 'Always'],
    ['is Always for an image without a tag on a registry with a port', 'registry.example:5000/team/app', 'Always'],
    ['is Always for an image without a tag on this machine', 'localhost/app', 'Always'],
    ['is Always for the tag latest', 'busybox:latest', 'Always'],
    ['is Always for the tag latest on a registry with a port', 'localhost:5000/app:latest', 'Always'],
    ['is Always for the tag latest, even beside a digest', `busybox:latest@${digest}`, 'Always'],
    ['is IfNotPresent for any other tag', 'busybox:1.35', 'IfNotPresent'],
    [
      'is IfNotPresent for any other tag on a registry with a port',
      'registry.example:5000/team/app:v1',
      'IfNotPresent',
    ],
    ['is IfNotPresent for a digest without a tag', `busybox@${digest}`, 'IfNotPresent'],
    ['is IfNotPresent for a digest beside another tag', `busybox:1@${digest}`, 'IfNotPresent'],
    ['is IfNotPresent for what is no name of an image', 'Upper/Case', 'IfNotPresent'],
    ['is IfNotPresent for no image', '', 'IfNotPresent'],
  ])('%s', (_rule, image, policy) => {
    expect(defaultPullPolicy(image)).toBe(policy);
  });

  it('is asked only where the container says nothing', () => {
    const container = aContainer({ image: 'busybox:latest', imagePullPolicy: 'Never' });
    expect(applyDefaults(aPod({ containers: [container] })).spec?.containers?.[0]?.imagePullPolicy).toBe('Never');
  });
});
