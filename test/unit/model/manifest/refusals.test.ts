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
  const volume = (source: object): Spec => ({ volumes: [{ name: 'a', ...source }] });
  const projection = (source: object): Spec => volume({ projected: { sources: [{ downwardAPI: {} }, source] } });

  it.each<[rule: string, field: string, spec: Spec]>([
    ['refuses a service account', 'spec.serviceAccountName', { serviceAccountName: 'a' }],
    ['refuses a service account under its older name', 'spec.serviceAccountName', { serviceAccount: 'a' }],
    ['refuses resource claims', 'spec.resourceClaims', { resourceClaims: [{ name: 'a' }] }],
    ['refuses a claim that is made for the pod', 'spec.volumes[0].ephemeral', volume({ ephemeral: {} })],
    ['refuses a CSI volume', 'spec.volumes[0].csi', volume({ csi: { driver: 'a' } })],
    [
      'refuses the secret of an azureFile volume',
      'spec.volumes[0].azureFile',
      volume({ azureFile: { secretName: 'a', shareName: 'b' } }),
    ],
    [
      'refuses the endpoints of a glusterfs volume',
      'spec.volumes[0].glusterfs',
      volume({ glusterfs: { endpoints: 'a', path: 'b' } }),
    ],
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
      (kind): [string, string, Spec] => [
        `refuses the secret of a volume of the kind ${kind}`,
        `spec.volumes[0].${kind}.secretRef`,
        volume({ [kind]: { secretRef: { name: 'a' } } }),
      ],
    ),
    [
      'refuses a token of a service account in a projected volume',
      'spec.volumes[0].projected.sources[1].serviceAccountToken',
      projection({ serviceAccountToken: { path: 'a' } }),
    ],
    [
      'refuses a bundle of trust of the cluster in a projected volume',
      'spec.volumes[0].projected.sources[1].clusterTrustBundle',
      projection({ clusterTrustBundle: { path: 'a', name: 'b' } }),
    ],
    [
      'refuses a certificate of the API server in a projected volume',
      'spec.volumes[0].projected.sources[1].podCertificate',
      projection({ podCertificate: { signerName: 'a/b', keyType: 'ED25519' } }),
    ],
  ])('%s', (_rule, field, spec) => {
    expect(fields(refuseReferences(settle(aPod(spec))))).toEqual([field]);
  });

  it.each<[rule: string, spec: Spec]>([
    ['lets a ConfigMap of a volume through', volume({ configMap: { name: 'a' } })],
    ['lets a Secret of a volume through', volume({ secret: { secretName: 'a' } })],
    ['lets a PersistentVolumeClaim through', volume({ persistentVolumeClaim: { claimName: 'a' } })],
    ['lets a ConfigMap of a projected volume through', projection({ configMap: { name: 'a' } })],
    ['lets a Secret of a projected volume through', projection({ secret: { name: 'a' } })],
    ['lets secrets of image pulls through', { imagePullSecrets: [{ name: 'a' }] }],
    [
      'lets variables of a ConfigMap and a Secret through',
      {
        containers: [
          aContainer({
            envFrom: [{ configMapRef: { name: 'a' } }],
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
          }),
        ],
      },
    ],
  ])('%s', (_rule, spec) => {
    expect(refuseReferences(settle(aPod(spec)))).toEqual([]);
    expect(refuseUnsupported(aPod(spec))).toEqual([]);
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

  it.each<[rule: string, field: string, spec: Spec]>([
    [
      'refuses gates of readiness, which an API server would open',
      'spec.readinessGates',
      { readinessGates: [{ conditionType: 'a' }] },
    ],
    ['refuses gates of scheduling', 'spec.schedulingGates', { schedulingGates: [{ name: 'a' }] }],
    [
      'refuses volumes of kinds that rxlet does not mount, and names the one',
      'spec.volumes[1].iscsi',
      { volumes: [{ name: 'a' }, { name: 'b', iscsi: { iqn: 'i', lun: 0, targetPortal: 't' } }] },
    ],
    [
      'refuses a container that asks for the devices of a claim',
      'spec.containers[0].resources.claims',
      { containers: [aContainer({ resources: { claims: [{ name: 'a' }] } })] },
    ],
    [
      'refuses a container that asks for a block device',
      'spec.containers[0].volumeDevices',
      { containers: [aContainer({ volumeDevices: [{ name: 'a', devicePath: '/dev/x' }] })] },
    ],
    [
      'refuses a field of an init container too',
      'spec.initContainers[0].volumeDevices',
      { initContainers: [aContainer({ name: 'i', volumeDevices: [{ name: 'a', devicePath: '/dev/x' }] })] },
    ],
  ])('%s', (_rule, field, spec) => {
    expect(fields(refuseUnsupported(aPod(spec)))).toEqual([field]);
  });

  it('takes fields that ask for nothing for absent', () => {
    expect(refuseUnsupported(aPod({ readinessGates: [], schedulingGates: [], resourceClaims: [] }))).toEqual([]);
  });
});
