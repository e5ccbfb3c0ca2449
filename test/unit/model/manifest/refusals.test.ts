import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { refuseReferences } from '../../../../src/model/manifest/refuse-references.ts';
import { refuseUnsupported } from '../../../../src/model/manifest/refuse-unsupported.ts';
import { formatFieldPath } from '../../../../src/model/schema/field-path.ts';
import { aContainer, aPod, settle } from './a-pod.ts';

type Spec = NonNullable<PodDraft['spec']>;
const fields = (problems: ReturnType<typeof refuseReferences>): readonly string[] =>
  problems.map(({ path }) => formatFieldPath(path));

describe('refuseReferences', () => {
  it.each<[string, Spec]>([
    ['spec.serviceAccountName', { serviceAccountName: 'a' }],
    ['spec.serviceAccountName', { serviceAccount: 'a' }],
    ['spec.resourceClaims', { resourceClaims: [{ name: 'a' }] }],
    ['spec.volumes[0].ephemeral', { volumes: [{ name: 'a', ephemeral: {} }] }],
    ['spec.volumes[0].csi', { volumes: [{ name: 'a', csi: { driver: 'a' } }] }],
    [
      'spec.volumes[0].projected.sources[1].serviceAccountToken',
      {
        volumes: [{ name: 'a', projected: { sources: [{ downwardAPI: {} }, { serviceAccountToken: { path: 'a' } }] } }],
      },
    ],
  ])('refuses %s', (field, spec) => {
    expect(fields(refuseReferences(settle(aPod(spec))))).toEqual([field]);
  });

  it('lets what needs no API server through', () => {
    const pod = aPod({
      automountServiceAccountToken: true,
      serviceAccountName: '',
      imagePullSecrets: [],
      volumes: [{ name: 'a', projected: { sources: [{ downwardAPI: {} }] } }],
    });
    expect(refuseReferences(settle(pod))).toEqual([]);
  });
});

describe('refuseUnsupported', () => {
  it('lets through what rxlet can do', () => {
    const pod = aPod({
      hostNetwork: true,
      hostUsers: true,
      securityContext: {},
      initContainers: [],
      dnsPolicy: 'Default',
      volumes: [
        { name: 'a', emptyDir: { sizeLimit: '1Mi' } },
        { name: 'b', hostPath: { path: '/b', type: 'Socket' } },
        { name: 'c' },
      ],
      containers: [
        aContainer({
          env: [{ name: 'A', value: 'b' }],
          ports: [{ containerPort: 1, hostPort: 2, hostIP: '::1' }],
          resources: { limits: { cpu: '1' }, requests: { memory: '1' } },
          volumeMounts: [{ name: 'a', mountPath: '/a', readOnly: true, mountPropagation: 'None' }],
        }),
      ],
    });
    expect(refuseUnsupported(pod)).toEqual([]);
  });

  it.each<[string, Spec]>([
    ['spec.readinessGates', { readinessGates: [{ conditionType: 'a' }] }],
    ['spec.schedulingGates', { schedulingGates: [{ name: 'a' }] }],
    [
      'spec.volumes[1].iscsi',
      { volumes: [{ name: 'a' }, { name: 'b', iscsi: { iqn: 'i', lun: 0, targetPortal: 't' } }] },
    ],
    ['spec.containers[0].resources.claims', { containers: [aContainer({ resources: { claims: [{ name: 'a' }] } })] }],
    [
      'spec.containers[0].volumeDevices',
      { containers: [aContainer({ volumeDevices: [{ name: 'a', devicePath: '/dev/x' }] })] },
    ],
  ])('refuses %s', (field, spec) => {
    expect(fields(refuseUnsupported(aPod(spec)))).toEqual([field]);
  });
});
