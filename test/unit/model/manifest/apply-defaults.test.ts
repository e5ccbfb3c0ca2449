import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../src/model/manifest/apply-defaults.ts';
import { defaultPullPolicy } from '../../../../src/model/manifest/pull-policy.ts';
import { aContainer, aPod } from './a-pod.ts';

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

  it('takes a negative grace period for the shortest, and writes names of sysctls with dots', () => {
    const securityContext = {
      sysctls: [
        { name: 'net/ipv4/conf/eth0.1/x', value: '1' },
        { name: 'kernel.a/b', value: '2' },
      ],
    };
    const { spec } = applyDefaults(aPod({ terminationGracePeriodSeconds: -5, securityContext }));
    expect(spec?.terminationGracePeriodSeconds).toBe(1);
    expect(spec?.securityContext?.sysctls?.map(({ name }) => name)).toEqual(['net.ipv4.conf.eth0/1.x', 'kernel.a/b']);
    expect(applyDefaults(aPod({ terminationGracePeriodSeconds: 0 })).spec?.terminationGracePeriodSeconds).toBe(0);
  });

  it('asks for what is limited, and writes quantities in their canonical form, rounded up to thousandths', () => {
    const container = aContainer({
      resources: { limits: { cpu: '0.1234', memory: '1024Ki' }, requests: { memory: '500000' } },
    });
    expect(applyDefaults(aPod({ containers: [container] })).spec?.containers?.[0]?.resources).toEqual({
      limits: { cpu: '124m', memory: '1Mi' },
      requests: { cpu: '124m', memory: '500k' },
    });
  });

  it('opens the ports of a pod with hostNetwork on the node', () => {
    const containers = [
      aContainer({ ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, protocol: 'UDP' }] }),
    ];
    expect(applyDefaults(aPod({ containers, hostNetwork: true })).spec?.containers?.[0]?.ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: 'TCP' },
      { containerPort: 81, hostPort: 81, protocol: 'UDP' },
    ]);
    expect(applyDefaults(aPod({ containers })).spec?.containers?.[0]?.ports?.[0]).toEqual({
      containerPort: 80,
      protocol: 'TCP',
    });
  });

  it('fills in probes, hooks and references to fields', () => {
    const container = aContainer({
      readinessProbe: { httpGet: { port: 80 }, timeoutSeconds: 0, periodSeconds: 3 },
      lifecycle: { preStop: { httpGet: { port: 80, path: '/bye' } } },
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    });
    expect(applyDefaults(aPod({ containers: [container] })).spec?.containers?.[0]).toMatchObject({
      readinessProbe: {
        httpGet: { path: '/', scheme: 'HTTP', port: 80 },
        timeoutSeconds: 1,
        periodSeconds: 3,
        successThreshold: 1,
        failureThreshold: 3,
      },
      lifecycle: { preStop: { httpGet: { path: '/bye', scheme: 'HTTP' } } },
      env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }, { valueFrom: { resourceFieldRef: { divisor: '0' } } }],
    });
  });

  it('asks the whole server where a grpc probe names no service, and makes keys of files required', () => {
    const container = aContainer({
      startupProbe: { grpc: { port: 9 } },
      livenessProbe: { tcpSocket: { port: 80 } },
      lifecycle: { postStart: { httpGet: { port: 80, scheme: 'HTTPS' } } },
      env: [{ name: 'C', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'k' } } }],
    });
    expect(applyDefaults(aPod({ containers: [container] })).spec?.containers?.[0]).toMatchObject({
      startupProbe: { grpc: { port: 9, service: '' }, failureThreshold: 3 },
      livenessProbe: { tcpSocket: { port: 80 }, timeoutSeconds: 1, periodSeconds: 10 },
      lifecycle: { postStart: { httpGet: { path: '/', scheme: 'HTTPS' } } },
      env: [{ valueFrom: { fileKeyRef: { key: 'k', optional: false } } }],
    });
  });

  it.each([
    ['serviceAccountName', { serviceAccountName: 'robot' }],
    ['serviceAccount, its older name', { serviceAccount: 'robot' }],
  ])('gives the account under both names where it is given as %s', (_, given) => {
    expect(applyDefaults(aPod(given)).spec).toMatchObject({ serviceAccountName: 'robot', serviceAccount: 'robot' });
  });

  it('fills in volumes, and makes one without a source an emptyDir', () => {
    const volumes = [
      { name: 'none' },
      { name: 'host', hostPath: { path: '/x' } },
      { name: 'sized', emptyDir: { sizeLimit: '1024Mi' } },
      { name: 'api', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    expect(applyDefaults(aPod({ volumes })).spec?.volumes).toEqual([
      { name: 'none', emptyDir: {} },
      { name: 'host', hostPath: { path: '/x', type: '' } },
      { name: 'sized', emptyDir: { sizeLimit: '1Gi' } },
      {
        name: 'api',
        downwardAPI: {
          defaultMode: 420,
          items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }],
        },
      },
    ]);
  });
});

describe('defaultPullPolicy', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  it.each([
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1.35', 'IfNotPresent'],
    ['registry.example:5000/team/app', 'Always'],
    ['registry.example:5000/team/app:v1', 'IfNotPresent'],
    ['localhost/app', 'Always'],
    ['localhost:5000/app:latest', 'Always'],
    [`busybox@${digest}`, 'IfNotPresent'],
    [`busybox:1@${digest}`, 'IfNotPresent'],
    ['Upper/Case', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ])('of %j is %s', (image, policy) => {
    expect(defaultPullPolicy(image)).toBe(policy);
  });

  it.each<[string, object, object]>([
    ['as much as it limits itself to', {}, { cpu: '1', memory: '1Gi' }],
    [
      'what its containers request, and where they do not as much as the limit',
      { requests: { cpu: '200m' } },
      { cpu: '400m', memory: '1Gi' },
    ],
  ])('lets a pod that limits itself as a whole request %s', (_what, resources, requests) => {
    const containers = [aContainer({ name: 'a', resources }), aContainer({ name: 'b', resources })];
    const pod = aPod({ containers, resources: { limits: { cpu: '1', memory: '1Gi' } } });
    expect(applyDefaults(pod).spec?.resources).toEqual({ limits: { cpu: '1', memory: '1Gi' }, requests });
  });
});
